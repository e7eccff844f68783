// Plans that a program can carry out: what they may move, that they are the best of all subsets; and what
// came of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "answers/plan/executed.hpp"
#include "answers/plan/planning.hpp"
#include "made_steps.hpp"
#include "text/error.hpp"

using namespace lotus::analyzer;
using namespace lotus::analyzer::memory_plan;
using lotus::analyzer::memory::Phase;
using lotus::analyzer::memory::RecordedStep;
using lotus::analyzer::memory::Step;
using lotus::analyzer::memory::Storage;

namespace {

constexpr std::uint64_t kLarge = 1 << 20;

// Forward 0 to 4, backward 5 to 8, optimizer 9.
Step made_step() {
  Step step;
  step.operators.resize(10);
  for (std::size_t k = 0; k < 10; ++k) {
    step.operators[k].seconds = 0.001;
    step.operators[k].phase = k < 5 ? Phase::forward : k < 9 ? Phase::backward : Phase::optimizer;
  }
  const auto storage = [&](std::size_t born, std::size_t released) {
    step.storages.push_back({.bytes = kLarge, .born = born, .released = released, .uses = {}});
    return step.storages.size() - 1;
  };
  const std::size_t saved = storage(0, 8), changed = storage(1, 7), held = storage(1, 10),
                    small = storage(2, 7), rewritten = storage(2, 8), twin = storage(4, 6),
                    other = storage(4, 5);
  step.storages[small].bytes = 100;
  const auto weight = storage(0, 10);
  step.storages[weight].older = step.storages[weight].survives = true;
  step.operators[0].operands = {{weight, true, false}, {saved, false, true}};
  step.operators[1].operands = {
      {weight, true, false}, {saved, true, false}, {changed, false, true}, {held, false, true}};
  step.operators[2].operands = {
      {saved, true, false}, {changed, true, true}, {small, false, true}, {rewritten, false, true}};
  step.operators[3].operands = {{changed, true, false}, {rewritten, true, false}};
  step.operators[4].operands = {{twin, false, true}, {other, false, true}};
  step.operators[5].operands = {{twin, true, false}};
  step.operators[6].operands = {{changed, true, false}, {held, true, false}, {small, true, false}};
  step.operators[7].operands = {{saved, true, false}, {rewritten, true, true}, {weight, true, false}};
  step.operators[9].operands = {{weight, true, true}};
  test::fill_uses(step);
  return step;
}

double time_of(const Planned& planned, std::uint64_t chosen, std::uint64_t limit) {
  const auto pages = static_cast<std::int64_t>(limit / kPage);
  Placement placement;
  for (std::size_t i = 0; i < planned.offload.storages.size(); ++i)
    placement.push_back({(chosen >> i & 1) == 0});
  const Placement all = whole_placement(planned.problem, planned.offload, placement);
  return allowed(planned.problem, all, pages) ? seconds_of(planned.problem, all)
                                              : std::numeric_limits<double>::infinity();
}

RecordedStep recorded(std::uint64_t number, double seconds, std::uint64_t peak, bool planned) {
  RecordedStep step;
  step.step.number = number;
  step.step.operators.push_back({.name = "aten::mm", .phase = Phase::backward, .operands = {}});
  step.ended = true;
  step.seconds = seconds;
  step.peak_bytes = peak;
  step.followed.plan = planned;
  if (planned) step.followed = {true, 4, 400, 0.5, 4, 4096, 1, 0.6};
  return step;
}

}  // namespace

TEST_CASE("offload: what may be moved, and how it is recognised") {
  const Step step = made_step();
  const Rules rules;
  const Planned plans = planned(step, rules);
  REQUIRE(plans.offload.storages.size() == 2);
  const auto& saved = plans.offload.storages[0];
  CHECK(saved.storage == 0);
  REQUIRE(saved.uses.size() == 3);
  CHECK(saved.uses[0].op == 0);
  CHECK(!saved.uses[0].argument);
  CHECK(saved.uses[1].argument == 1);  // behind the weight
  CHECK(saved.uses[2].argument == 0);
  const auto& changed = plans.offload.storages[1];
  CHECK(changed.storage == 1);
  REQUIRE(changed.uses.size() == 2);  // operator 1 might save what operator 2 changes
  CHECK(changed.uses[0].op == 2);
  CHECK(changed.uses[0].argument == 1);
  CHECK(changed.uses[1].op == 3);
  CHECK(plans.offload.problem.items[0].segments[0].first == 3);
  CHECK(plans.offload.problem.items[0].segments[0].last == 6);
}

TEST_CASE("offload: best of all subsets, within its limit, never better than synchronous") {
  std::mt19937 random(7);
  int moved = 0;
  for (int round = 0; round < 40; ++round) {
    const Step step = test::training_step(3, random);
    Rules rules;
    const Planned empty = planned(step, rules);
    const std::size_t count = empty.offload.storages.size();
    REQUIRE(count <= 12);
    const std::uint64_t least = least_of_offload(empty).bytes;
    for (const std::uint64_t limit : {least, (least + empty.peak) / 2, empty.peak}) {
      Planned plans = planned(step, rules);
      Request request;
      request.limits = {{limit, ""}};
      request.modes = {Mode::offload, Mode::synchronous};
      request.solver = SolverChoice::builtin;
      request.effort = {.gap = 1e-6, .time_limit_s = 30};
      plan_for(plans, request);
      double best = std::numeric_limits<double>::infinity();
      for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << count; ++chosen)
        best = std::min(best, time_of(plans, chosen, limit));
      const Run& run = plans.runs[1];
      REQUIRE(run.mode == Mode::offload);
      CHECK(run.outcome.seconds == doctest::Approx(best).epsilon(1e-5));
      CHECK(allowed(plans.problem, run.placement, static_cast<std::int64_t>(limit / kPage)));
      CHECK(plans.runs[0].outcome.seconds <= run.outcome.seconds * (1 + 1e-5));
      for (const Move& move : run.outcome.moves) CHECK(move.copied);
      moved += run.outcome.moves.empty() ? 0 : 1;
      if (limit == empty.peak) CHECK(run.outcome.moves.empty());
    }
  }
  CHECK(moved > 20);
}

TEST_CASE("offload: predicted against real") {
  std::vector<RecordedStep> steps;
  for (std::uint64_t number = 0; number < 11; ++number)
    steps.push_back(recorded(number, (number % 2 == 1 ? 1.6 : 1.0) + (number < 5 ? 0.2 : 0),
                             number % 2 == 1 ? 700 : 1000, number >= 3 && number % 2 == 1));
  steps.back().incomplete = true;
  const auto all = executed_of(steps, "a.lotus");
  REQUIRE(all.size() == 1);
  CHECK(all[0].steps == 4);
  CHECK(all[0].beside == 3);
  CHECK(all[0].predicted_s() == doctest::Approx(1.5));
  CHECK(all[0].error_percent() == doctest::Approx(-6.25));
  CHECK(all[0].base_peak == 1000);
  CHECK(all[0].actual_peak == 700);
  CHECK(all[0].predicted_peak() == 600);
  CHECK(executed_text(all, Terminal{}).find("a.lotus: 1 of 4 moves took longer") == std::string::npos);
  steps.resize(6);
  CHECK_THROWS_AS(executed_of(steps, "a.lotus"), Unusable);
}
