// A loop inside of the body of another one, as for validation: no moment counts twice.
#include <doctest/doctest.h>

#include "answers/report/collector.hpp"
#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

// A call of __next__ with the CPU time of the process at both ends, in ms.
void call_next(ThreadWriter& main, std::uint64_t iterator, double from, double to, double cpu_from,
               double cpu_to, bool last = false) {
  main.record<Kind::next>(at(from), iterator, 0);
  main.record<Kind::process_cpu>(at(from), static_cast<std::uint64_t>(cpu_from * 1e6));
  main.record<Kind::process_cpu>(at(to), static_cast<std::uint64_t>(cpu_to * 1e6));
  if (last)
    main.record<Kind::leave_empty>(at(to));
  else
    main.record<Kind::leave>(at(to));
}

}  // namespace

TEST_CASE("a validation loop between two batches of training is no part of training's step") {
  MadeTrace made;
  made.loader(1, 0);
  made.loader(2, 0);
  made.iterator(1, 1);
  made.iterator(2, 2);
  ThreadWriter main(made, 1, 1);
  call_next(main, 1, 0, 10, 0, 1);
  call_next(main, 1, 15, 20, 3, 4);        // a step of 5 ms before it
  call_next(main, 2, 22, 30, 5, 6);        // validation, from 22 to 41
  call_next(main, 2, 31, 41, 6, 7, true);  // its one step: 1 ms
  call_next(main, 1, 44, 50, 9, 10, true);
  main.flush();
  made.close(100);
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  CHECK(findings.loop == doctest::Approx(50e6));  // all of it, once
  CHECK(findings.next == doctest::Approx(39e6));
  CHECK(findings.train_step.count() == 3);
  CHECK(findings.train_step.sum() == doctest::Approx(11e6));  // 5, 1, and 24 without the 19 of validation
  for (const LoaderFinding& loader : findings.loaders) {
    const bool validates = loader.loader->id == 2;
    CHECK(loader.loop == doctest::Approx(validates ? 19e6 : 31e6));
  }
}
