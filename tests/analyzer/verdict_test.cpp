// The verdict, the report's first sentence.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "answers/report/report.hpp"
#include "answers/report/verdict.hpp"

using namespace lotus::analyzer;

namespace {

constexpr double kMs = 1e6;

struct Situation {
  std::uint64_t workers, cores;
  double fetch_ms, step_ms, waited;  // waited: share of the time, from 0 to 1
};

Findings findings_of(const Situation& c, const Process& training) {
  Findings f;
  f.files = {"x.lotus"};
  f.cores = c.cores;
  f.quality.events = 100;
  LoaderFinding& loader = f.loaders.emplace_back();
  loader.training = &training;
  loader.loader = Loader{};
  loader.loader->id = 1;
  loader.loader->dataset = "Folder";
  loader.loader->workers = c.workers;
  for (int i = 0; i < 10; ++i) {
    f.fetch.add(static_cast<std::int64_t>(c.fetch_ms * kMs));
    loader.fetch.add(static_cast<std::int64_t>(c.fetch_ms * kMs));
    if (c.step_ms > 0) loader.train_step.add(static_cast<std::int64_t>(c.step_ms * kMs));
  }
  f.loop = loader.loop = 1000 * kMs;
  f.next = loader.next = c.waited * f.loop;
  OpFinding& op = f.ops.emplace_back();
  op.op.name = "Crop";
  f.fetch_time = f.fetch.sum();
  op.fetch_self = f.fetch_time * 0.4;
  return f;
}

bool says(const Verdict& verdict, const std::string& part) {
  INFO(verdict.message);
  return verdict.message.find(part) != std::string::npos;
}

// Why a cause was ruled out; empty: it was not.
std::string why_not(const Verdict& verdict, Cause cause) {
  for (const auto& judged : verdict.diagnosis.ruled_out)
    if (judged.cause == cause) return judged.judgement.words;
  return {};
}

bool holds(const Verdict& verdict, Cause cause) {
  return std::any_of(verdict.diagnosis.held.begin(), verdict.diagnosis.held.end(),
                     [&](const Judged& judged) { return judged.cause == cause; });
}

bool ruled_out(const Verdict& verdict, Cause cause, const std::string& part) {
  INFO(why_not(verdict, cause));
  return why_not(verdict, cause).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the verdict follows from its numbers") {
  const Process training;
  const auto verdict = [&](const Situation& c) { return verdict_of(findings_of(c, training)); };

  const Verdict more = verdict({2, 16, 400, 100, 0.41});
  CHECK(more.bound == Bound::input);
  CHECK(says(more, "input-bound"));
  CHECK(says(more, "41.0 %"));
  CHECK(holds(more, Cause::op));  // which says what Crop takes, so that the sentence need not
  CHECK(!says(more, "Crop"));
  CHECK(says(more, "4 workers instead of 2 would keep up"));
  CHECK(says(more, "400 ms to make and 100 ms to train on"));

  CHECK(more.diagnosis.cause() == Cause::workers);

  CHECK(ruled_out(verdict({2, 2, 400, 100, 0.41}), Cause::workers, "2 workers already fill the 2 cores"));
  CHECK(verdict({2, 2, 400, 100, 0.41}).diagnosis.cause() == Cause::op);
  CHECK(says(verdict({2, 3, 400, 100, 0.41}), "3 workers instead of 2 would fill the 3 cores"));
  CHECK(says(verdict({0, 16, 400, 100, 0.8}), "makes its batches itself"));
  CHECK(says(verdict({0, 16, 400, 100, 0.8}), "4 workers instead of 0 would keep up"));
  CHECK(says(verdict({0, 2, 400, 100, 0.8}), "2 workers instead of 0 would fill the 2 cores"));
  CHECK(says(verdict({8, 16, 400, 100, 0.2}), "8 workers are enough on average"));
  CHECK(verdict({8, 16, 400, 100, 0.2}).diagnosis.cause() == Cause::uneven);

  Findings sleeping = findings_of({2, 2, 400, 100, 0.41}, training);
  sleeping.fetch_cpu = 0.1 * (sleeping.fetch_cpu_wall = sleeping.fetch.sum());
  CHECK(says(verdict_of(sleeping), "4 workers instead of 2 would keep up"));

  const Verdict compute = verdict({2, 16, 100, 400, 0.01});
  CHECK(compute.bound == Bound::compute);
  CHECK(compute.diagnosis.cause() == Cause::training);

  CHECK(verdict({2, 16, 100, 90, 0.10}).bound == Bound::balanced);
  CHECK(verdict({2, 16, 100, 90, 0.15}).bound == Bound::input);
  CHECK(verdict({2, 16, 100, 90, 0.05}).bound == Bound::compute);
  CHECK(verdict({2, 16, 100, 90, 0.10}).diagnosis.cause() == Cause::balanced);
  CHECK(ruled_out(verdict({2, 16, 400, 0, 0.9}), Cause::workers, "too few batches"));
}

TEST_CASE("with several loaders the one that was waited for most is named") {
  const Process training;
  Findings f = findings_of({2, 16, 400, 100, 0.41}, training);
  LoaderFinding& second = f.loaders.emplace_back(f.loaders[0]);
  second.loader->id = 2;
  second.loader->dataset = "Slow";
  second.loader->workers = 1;
  second.next *= 2;
  const Verdict verdict = verdict_of(f);
  CHECK(says(verdict, "of 2 loaders, 2 (Slow)"));
  CHECK(verdict.workers == 1);
}

TEST_CASE("where too much of the making of batches is missing, that is said, and nothing is replayed") {
  const Process training;
  Findings f = findings_of({2, 16, 400, 100, 0.41}, training);
  Recording& recording = f.recordings.emplace_back();
  recording.batches = 19;
  recording.unseen = 1;
  CHECK(!says(verdict_of(f), "not in the trace"));
  recording.unseen = 9;
  CHECK(says(verdict_of(f), "; how 9 of its 19 batches were made is not in the trace;"));
  f.quality.truncated = true;
  CHECK(says(verdict_of(f), "not in the trace, perhaps not yet;"));
  CHECK(!verdict_of(f).diagnosis.error);
}

TEST_CASE("workers of a loader whose settings are lost are unknown, not none") {
  const Process training;
  Findings findings = findings_of({0, 16, 400, 100, 0.8}, training);
  findings.loaders.front().loader.reset();
  const Verdict verdict = verdict_of(findings);
  CHECK(!verdict.workers);
  CHECK(!verdict.workers_needed);
  CHECK(ruled_out(verdict, Cause::workers, "settings are missing from the trace"));
}

TEST_CASE("nothing to judge is said, not guessed") {
  Findings f;
  f.files = {"x.lotus"};
  CHECK(says(verdict_of(f), "holds no event"));
  CHECK(verdict_of(f).diagnosis.cause() == Cause::too_little);
  f.quality.events = 5;
  CHECK(says(verdict_of(f), "No batch was recorded"));
  Findings cut = f;
  cut.quality.truncated = true;
  CHECK(says(verdict_of(cut), "not in the part of the trace that is here"));
  f.fetch.add(1000);
  CHECK(says(verdict_of(f), "Too little was recorded"));
  CHECK(says(verdict_of(f), "no training loop asked for one"));
  for (auto lose :
       {+[](QualityFinding& q) { q.truncated = true; }, +[](QualityFinding& q) { q.gaps = 1; },
        +[](QualityFinding& q) { q.lost_events = 1; }, +[](QualityFinding& q) { q.damage.count = 1; }}) {
    Findings lossy = f;
    lose(lossy.quality);
    CHECK(says(verdict_of(lossy), "the training process's records are missing from the trace"));
  }
  CHECK_FALSE(verdict_of(f).waited_percent.has_value());
  CHECK(report_text(f, Terminal{}).find("Too little") == 0);
}
