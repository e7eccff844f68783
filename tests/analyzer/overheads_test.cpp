// What handing over takes, as it is recorded: of few times the shortest, of many the middle one.
#include <doctest/doctest.h>

#include "answers/report/collector.hpp"
#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

// A worker that makes batches of 1 ms. It has the index of the first `ahead` before the one before is made,
// and pauses for 40 ms after the first and for 2 ms after each other of them.
double between(int ahead) {
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  ThreadWriter worker(made, made.worker(1, 0), 1);
  ThreadWriter main(made, 1, 1);
  double from = 2;
  for (int i = 0; i < ahead + 20; ++i) {
    const auto batch = static_cast<std::uint64_t>(i);
    main.record<Kind::queued>(at(i < ahead ? 1 : from - 0.1), 1, 0, batch, 1);
    worker.record<Kind::fetch>(at(from), 0, 0, batch);
    worker.record<Kind::leave>(at(from + 1));
    main.record<Kind::next>(at(from), 1, 0);
    main.record<Kind::wait>(at(from), 1, 0);
    get(main, from, from + 1, 1, 0, batch, batch);
    span<Kind::consume>(main, from + 1, from + 1, 1, 0, batch);
    main.record<Kind::leave>(at(from + 1));
    main.record<Kind::leave>(at(from + 1));
    from += 1 + (i == 0 ? 40 : 2);
  }
  worker.flush();
  main.flush();
  made.close(1000);
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  return findings_of(trace).recordings.front().overheads.between / 1e6;
}

}  // namespace

TEST_CASE("a worker's pauses between batches whose indices it had") {
  CHECK(between(20) == doctest::Approx(2));  // the long one is one of many
  CHECK(between(3) == doctest::Approx(2));   // of the two
}
