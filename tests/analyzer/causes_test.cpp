// The table of causes: what each row asks for, and which of several is told first.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "answers/causes/diagnosis.hpp"
#include "answers/report/collector.hpp"
#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

// One worker that makes a batch in 10 ms, all of it in the dataset's own code. A training step takes 2 ms.
Bytes waiting_run(int batches) {
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  ThreadWriter worker(made, made.worker(1, 0), 1);
  ThreadWriter main(made, 1, 1);
  for (int i = 0; i < batches; ++i) {
    const double from = 10.0 * i;
    const auto batch = static_cast<std::uint64_t>(i);
    span<Kind::fetch>(worker, from, from + 10, 0, 0, batch);
    main.record<Kind::next>(at(from + 2), 1, 0);
    main.record<Kind::wait>(at(from + 2), 1, 0);
    get(main, from + 2, from + 10, 1, 0, batch, batch);
    span<Kind::consume>(main, from + 10, from + 10, 1, 0, batch);
    main.record<Kind::leave>(at(from + 10));
    main.record<Kind::leave>(at(from + 10));
  }
  worker.flush();
  main.flush();
  made.close(1000);
  return made.bytes;
}

Diagnosis diagnosis_of_run(int batches) {
  const TemporaryFile file(waiting_run(batches));
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  return diagnosis_of(Case(findings));
}

}  // namespace

TEST_CASE("each cause has one row, and names are not used twice") {
  std::set<std::string> names;
  std::set<Cause> found;
  for (const CauseRow& row : causes()) {
    CHECK(names.insert(row.name).second);
    CHECK(found.insert(row.cause).second);
  }
  CHECK(found.size() == static_cast<std::size_t>(Cause::unknown) + 1);
}

TEST_CASE("a run that is too short to replay has a cause by the same rows, and no prediction") {
  const Diagnosis diagnosis = diagnosis_of_run(4);
  CHECK(!diagnosis.error);
  CHECK(diagnosis.cause() == Cause::workers);
  CHECK(!diagnosis.held.front().judgement.evidence.empty());
  for (const Advice& advice : diagnosis.advice) CHECK(!advice.prediction);
}

TEST_CASE("each row judges a run: it holds, or it says why not") {
  for (const int batches : {4, 40}) {
    const Diagnosis diagnosis = diagnosis_of_run(batches);
    std::set<Cause> judged;
    for (const auto& row : diagnosis.held) judged.insert(row.cause);
    for (const auto& row : diagnosis.ruled_out) {
      CAPTURE(name_of(row.cause));
      CHECK(!row.judgement.words.empty());
      CHECK(judged.insert(row.cause).second);
    }
    for (const CauseRow& row : causes())
      if (row.place == Place::ranked) CHECK(judged.contains(row.cause));
  }
}

TEST_CASE("an advice whose interval holds no gain is not told") {
  const TemporaryFile file(waiting_run(40));
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  for (const Advice& advice : diagnosis_of(Case(findings)).advice)
    if (advice.action != "none")
      CHECK(advice.prediction->images_per_s.low > findings.recordings.front().achieved.images_per_s());
}
