// Two runs compared: expected means and errors are calculated by hand, and random variation must not be
// reported as a change.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "answers/counters/collector.hpp"
#include "answers/stacks/comparison.hpp"
#include "answers/stats/interval.hpp"
#include "made_stacks.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

namespace {

// A run with batches of 4 calls of operation 1, which take `ms(batch)` each, and with stack samples of it.
struct MadeRun {
  MadeTrace made;
  MadeStacks stacks{made};
  std::uint32_t worker = 0;

  explicit MadeRun(const std::string& op = "Crop") {
    made.loader(1, 1);
    made.iterator(1, 1);
    worker = made.worker(1, 0);
    made.op(worker, 1, OpRole::transform, op);
    stacks.sampling(worker);
  }
  template <class Length>
  void batches(int count, Length ms) {
    ThreadWriter thread(made, worker, 1);
    double now = 2;
    for (int batch = 0; batch < count; ++batch) {
      const double each = ms(batch);
      thread.record<Kind::fetch>(at(now), 0, 0, static_cast<std::uint64_t>(batch));
      for (int call = 0; call < 4; ++call)
        span<Kind::op>(thread, now + call * each, now + (call + 1) * each, 1);
      now += 4 * each + 0.1;
      thread.record<Kind::leave>(at(now));
    }
    thread.flush();
  }
  void samples(int count, const Frames& frames) {
    for (int i = 0; i < count; ++i) stacks.sample(1, frames);
  }
  // Training that waits `wait(batch)` ms for each batch and trains on it for 3 ms.
  template <class Length>
  void training(int count, Length wait) {
    ThreadWriter thread(made, 1, 1);
    double now = 2;
    for (int batch = 0; batch <= count; ++batch) {
      thread.record<Kind::next>(at(now), 1, 0);
      now += wait(batch);
      if (batch < count)
        thread.record<Kind::leave>(at(now));
      else
        thread.record<Kind::leave_empty>(at(now));
      now += 3;
    }
    thread.flush();
  }
  Costs costs(FrameTable& frames) {
    stacks.flush(worker);
    made.close(100'000);
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    CostReader reader(trace, frames);
    show(trace, reader);
    return reader.take();
  }
};

// Batches of 4 calls of Crop, which all count `faults(batch)` page faults; `processor`: of which model.
template <class Faults>
CounterFindings counts(int batches, Faults faults, std::uint64_t model = 1, bool user_only = false) {
  MadeRun run;
  run.made.define<Kind::processor>(run.worker, at(0), std::string("GenuineIntel"), std::uint64_t{6}, model);
  run.made.define<Kind::counting>(run.worker, at(0), std::uint64_t{1}, std::string("page-faults"),
                                  std::uint64_t{user_only}, std::uint64_t{0});
  ThreadWriter thread(run.made, run.worker, 1);
  double now = 2;
  for (int batch = 0; batch < batches; ++batch, ++now) {
    thread.record<Kind::fetch>(at(now), 0, 0, static_cast<std::uint64_t>(batch));
    for (int call = 0; call < 4; ++call) {
      thread.record<Kind::op>(at(now), std::uint64_t{1});
      now += 1;
      thread.record<Kind::count>(at(now), std::uint64_t{1}, static_cast<std::uint64_t>(faults(batch)),
                                 std::uint64_t{0}, std::uint64_t{0});
      thread.record<Kind::leave>(at(now));
    }
    thread.record<Kind::leave>(at(now));
  }
  thread.flush();
  run.made.close(100'000);
  const TemporaryFile file(run.made.bytes);
  Trace trace(file.path());
  CounterFindings findings;
  CounterCollector collector(trace, findings);
  show(trace, collector);
  collector.end();
  return findings;
}

Difference judged(CounterComparison comparison) {
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].op == "Crop");
  CHECK(comparison.changes[0].counter == "page-faults");
  judge(comparison.changes[0].per_call, 0.95);
  return comparison.changes[0].per_call;
}

const Frames kResize = {"resize|folder.py", "resample|_imaging.so"};
const Frames kCopy = {"resize|folder.py", "memcpy|libc.so.6"};

}  // namespace

TEST_CASE("the error of a mean follows from how the batches vary") {
  BlockMean mean;
  mean.add(4, 40);
  CHECK(std::isinf(mean.estimate().error));
  mean.add(4, 80);
  CHECK(mean.estimate().mean == Approx(15));
  CHECK(mean.estimate().error == Approx(5));  // of two batch means, 10 and 20
  CHECK(mean.calls() == 8);
}

TEST_CASE("standard errors for a probability, as tables have them") {
  constexpr double kMany = std::numeric_limits<double>::infinity();
  CHECK(errors_for(0.95, kMany) == Approx(1.959964));
  CHECK(errors_for(0.999, kMany) == Approx(3.290527));
  CHECK(errors_for(0.95, 1) == Approx(12.7062));
  CHECK(errors_for(0.95, 3) == Approx(3.182446));
  CHECK(errors_for(0.999, 10) == Approx(4.586894));
}

TEST_CASE("an operation and a function that became dearer are named, others are not") {
  FrameTable frames;
  MadeRun before, after;
  before.batches(20, [](int batch) { return batch % 2 == 0 ? 1.0 : 1.2; });
  after.batches(20, [](int batch) { return batch % 2 == 0 ? 2.0 : 2.2; });
  before.samples(200, kResize);
  after.samples(500, kResize);
  before.samples(50, kCopy);
  after.samples(60, kCopy);
  Comparison comparison = compare(before.costs(frames), after.costs(frames), frames);
  REQUIRE(comparison.ops.size() == 1);
  const OpComparison& op = comparison.ops[0];
  CHECK(op.calls_before == 80);
  CHECK(op.wall.before.mean == Approx(1.1e6));
  CHECK(op.wall.after.mean == Approx(2.1e6));
  CHECK(op.wall.certain);
  CHECK(op.cpu.certain);
  CHECK(op.cpu.before.mean == Approx(250 * kPeriod / 80.0));
  REQUIRE(op.functions.size() == 2);
  CHECK(op.functions[0].frame.name == "resample");
  CHECK(op.functions[0].cpu.certain);
  CHECK(op.functions[0].cpu.before.error == Approx(std::sqrt(200.0) * kPeriod / 80.0));
  CHECK_FALSE(op.functions[1].cpu.certain);
  CHECK(comparison.quantities == 4);
  const std::string text = comparison_text(comparison, Terminal{});
  CHECK(text.starts_with("Changed beyond chance: Crop takes 2.10 ms instead of 1.10 ms a call (+90.9 %)."));
  CHECK(text.find("resample") != std::string::npos);
  CHECK(text.find("memcpy") == std::string::npos);
  CHECK(text.find("may be chance: 1 more") != std::string::npos);
  const auto json = comparison_json(comparison);
  CHECK(json["ops"][0]["time_per_call"]["changed"] == true);
  CHECK(json["ops"][0]["functions"][1]["changed"] == false);
}

// Calls in separate batches, as in an operation that runs once at the start of each worker.
TEST_CASE("few calls do not look like a change: pairs of equal runs, two batches each") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> length(40e3, 4e3);
  int wrong = 0;
  for (int pair = 0; pair < 400; ++pair) {
    Costs runs[2];
    for (auto& run : runs)
      for (int batch = 0; batch < 2; ++batch) run.ops["Once"].wall.add(1, length(random));
    wrong += compare(runs[0], runs[1], FrameTable()).ops.at(0).wall.certain ? 1 : 0;
  }
  CHECK(wrong < 30);  // 10 at best: two quantities share 5 %; 62 by the normal distribution
}

TEST_CASE("a machine that was more or less busy is said to be so") {
  FrameTable frames;
  const auto text_of = [&](double first, double second) {  // shares in [0, 1]
    Costs runs[2];
    for (const bool after : {false, true}) {
      LoopCost& loop = runs[after].loop;
      for (int batch = 0; batch < 40; ++batch)
        for (RowMean* mean : {&loop.batch, &loop.wait, &loop.step, &loop.fetch}) mean->add(1e6 + batch);
      loop.core_wait.add(1e9 * (after ? second : first), 1e9);
    }
    return comparison_text(compare(runs[0], runs[1], frames), Terminal{.width = 400});
  };
  CHECK(text_of(0.05, 0.08).find("busy") == std::string::npos);
  CHECK(text_of(0.3, 0.35).find(
            "in both runs, for 35.0 % of the time in which they made batches instead of 30.0 %") !=
        std::string::npos);
  CHECK(text_of(0.312, 0.68)
            .find("for 68.0 % of the time in which they made batches instead of 31.2 %: the "
                  "machine was more busy") != std::string::npos);
  CHECK(text_of(0.68, 0.312).find("was less busy") != std::string::npos);
}

TEST_CASE("operations of one run only are said to be so; without samples, functions are not compared") {
  FrameTable frames;
  MadeRun before("Crop"), after("Resize");
  before.batches(5, [](int) { return 1.0; });
  after.batches(5, [](int) { return 1.0; });
  Comparison comparison = compare(before.costs(frames), after.costs(frames), frames);
  comparison.before = "a.lotus";
  comparison.after = "b.lotus";
  const std::string text = comparison_text(comparison, Terminal{.width = 400});
  CHECK(text.find("Crop is only in a.lotus: 1.00 ms a call, 20.0 ms in 20 calls") != std::string::npos);
  CHECK(text.find("cannot be compared") != std::string::npos);
  CHECK(comparison_json(comparison)["ops"].size() == 2);
}

// 400 pairs of runs that differ by chance only: intervals of 95 % are wrong in some 20 of them.
TEST_CASE("chance looks like a change as seldom as it is said") {
  std::mt19937_64 random(7);
  std::gamma_distribution<double> slow(4, 2.5e5);
  std::poisson_distribution<int> hits(30);
  int wrong = 0;
  for (int pair = 0; pair < 400; ++pair) {
    FrameTable frames;
    const FrameId id = frames.intern({"resample", "_imaging.so", "", 0, Part::native});
    Costs sides[2];
    for (auto& costs : sides) {
      OpCost& cost = costs.ops["Crop"];
      for (int batch = 0; batch < 40; ++batch) cost.wall.add(32, 32 * slow(random));
      for (int n = hits(random); n > 0; --n) {
        cost.cpu.add(kPeriod);
        cost.functions[id].add(kPeriod);
      }
    }
    const Comparison comparison = compare(sides[0], sides[1], frames);
    const OpComparison& op = comparison.ops[0];
    wrong += op.wall.certain || op.cpu.certain || op.functions[0].cpu.certain ? 1 : 0;
  }
  CHECK(wrong > 2);
  CHECK(wrong < 45);
}

TEST_CASE("training: what a batch takes, waited for and trained on") {
  FrameTable frames;
  MadeRun before, after;
  before.training(40, [](int batch) { return batch < 40 ? 6.0 + batch % 2 : 0; });
  after.training(40, [](int batch) { return batch < 40 ? 2.0 + batch % 2 : 0; });
  const Comparison comparison = compare(before.costs(frames), after.costs(frames), frames);
  const LoopComparison& loop = comparison.loop;
  CHECK(comparison.quantities == 4);
  CHECK(loop.batch.before.mean == Approx(9.5e6));
  CHECK(loop.batch.after.mean == Approx(5.5e6));
  CHECK(loop.wait.before.mean == Approx(6.5e6));
  CHECK(loop.wait.before.error == Approx(1e6 * std::sqrt(0.25 / 39)));
  CHECK(loop.step.before.mean == Approx(3e6));
  CHECK(loop.batch.certain);
  CHECK_FALSE(loop.step.certain);
  CHECK(*loop.before.waited_percent() == Approx(100 * 260 / 380.0));
  const std::string text = comparison_text(comparison, Terminal{.width = 400});
  CHECK(text.find("Training took 182 instead of 105 batches/s (+72.7 %); it waited for data 45.5 % of the "
                  "time instead "
                  "of 68.4 %.") == 0);
}

// Each wait depends on the one before. If they were treated as independent, most pairs of equal runs would
// seem to differ.
TEST_CASE("training: neighbours that are alike are no more than chance") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> step(0, 1);
  int wrong = 0;
  for (int pair = 0; pair < 400; ++pair) {
    RowMean rows[2];
    for (auto& row : rows) {
      double level = 0;
      for (int i = 0; i < 2000; ++i) {
        level = 0.9 * level + step(random);
        row.add(100 + level);
      }
    }
    const Estimate a = rows[0].estimate(), b = rows[1].estimate();
    wrong += std::abs(a.mean - b.mean) > errors_for(0.95, a.freedom) * std::hypot(a.error, b.error) ? 1 : 0;
  }
  CHECK(wrong < 60);  // 20 at best; more than 200 if waits are treated as independent
}

TEST_CASE("nothing becomes cheaper by more than all of it") {
  FrameTable frames;
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> uneven(0, 2);
  const auto length = [&](int) { return uneven(random); };
  MadeRun before;
  before.batches(12, length);
  MadeRun after;
  after.batches(12, length);
  const Costs a = before.costs(frames);
  const Comparison comparison = compare(a, after.costs(frames), frames);
  REQUIRE(comparison.ops.size() == 1);
  const Difference& wall = comparison.ops.front().wall;
  CHECK(wall.low == -wall.before.mean);  // clamped: the error exceeds the mean
  CHECK_FALSE(wall.certain);
}

TEST_CASE("counters of two runs: the error of a count per call follows from how the batches vary") {
  const auto some = [](int batch) { return batch % 2 == 0 ? 100 : 140; };
  const auto more = [](int batch) { return batch % 2 == 0 ? 200 : 240; };
  const Difference changed = judged(compare_counters(counts(20, some), counts(20, more)));
  // Without the first call of the process: 3 calls of 100, then 19 batches of 4.
  CHECK(changed.before.mean == Approx((3 * 100 + 9 * 400 + 10 * 560) / 79.0));
  CHECK(changed.before.error == Approx(20 / std::sqrt(19)).epsilon(0.05));
  CHECK(changed.after.mean - changed.before.mean == Approx(100));
  CHECK(changed.certain);
  CHECK(changed.low > 80);
  CHECK(changed.high < 120);
  const auto few = [](int batch) { return batch % 2 == 0 ? 101 : 142; };
  CHECK_FALSE(judged(compare_counters(counts(20, some), counts(20, few))).certain);
}

TEST_CASE("counters of two runs: what happened once in few calls is no change") {
  const auto none = [](int) { return 0; };
  const auto once = [](int batch) { return batch == 5 ? 1 : 0; };
  const Difference changed = judged(compare_counters(counts(10, none), counts(10, once)));
  CHECK(changed.before.mean == 0);
  CHECK(changed.before.error == Approx(1 / 39.0));  // of a Poisson count, as if one had been seen
  CHECK_FALSE(changed.certain);
  CHECK(judged(compare_counters(counts(10, none), counts(10, [](int) { return 9; }))).certain);
}

TEST_CASE("counters of two runs: what cannot be compared is told") {
  const auto some = [](int) { return 100; };
  CounterComparison comparison = compare_counters(counts(10, some), counts(10, some, 2, true));
  CHECK(comparison.changes.empty());
  CHECK(comparison.of_other_parts == std::set<std::string>{"page-faults"});
  CHECK(comparison.other_processors());
  CHECK(compare_counters(counts(10, some), {}).only_before == std::set<std::string>{"page-faults"});
  FrameTable frames;
  MadeRun before, after;
  before.batches(20, [](int) { return 1.0; });
  after.batches(20, [](int) { return 1.0; });
  const Comparison both = compare(before.costs(frames), after.costs(frames), frames, comparison);
  std::string text = comparison_text(both, Terminal{});
  std::replace(text.begin(), text.end(), '\n', ' ');
  CHECK(
      text.find("different processors (GenuineIntel family 6 model 0x1; GenuineIntel family 6 model 0x2)") !=
      std::string::npos);
  CHECK(text.find("one run lacks what the kernel did for the program: page-faults") != std::string::npos);
  CHECK(comparison_json(both)["counters"]["of_other_parts"][0] == "page-faults");
}

TEST_CASE("counters of two runs: they are among the quantities, in the table and in JSON") {
  const auto some = [](int batch) { return batch % 2 == 0 ? 100 : 140; };
  const auto more = [](int batch) { return batch % 2 == 0 ? 200 : 240; };
  FrameTable frames;
  MadeRun before, after;
  before.batches(20, [](int) { return 1.0; });
  after.batches(20, [](int) { return 1.0; });
  const Comparison comparison = compare(before.costs(frames), after.costs(frames), frames,
                                        compare_counters(counts(20, some), counts(20, more)));
  CHECK(comparison.quantities == 3);  // with time and CPU time of Crop
  const std::string text = comparison_text(comparison, Terminal{});
  CHECK(text.find("page-faults  Crop") != std::string::npos);
  CHECK(text.find("more") != std::string::npos);
  const auto json = comparison_json(comparison);
  CHECK(json["ops"][0]["counters"]["page-faults"]["changed"] == true);
  CHECK(json["counters"]["fetches"].empty());
  const Comparison none = compare({}, {}, frames);
  CHECK(comparison_json(none)["counters"].is_null());
}
