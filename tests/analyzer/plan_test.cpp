// Plans of steps against an exhaustive search and a replay of their own.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "answers/plan/account.hpp"
#include "answers/plan/baselines.hpp"
#include "answers/plan/planning.hpp"
#include "answers/plan/solver_command.hpp"
#include "made_steps.hpp"

using namespace lotus::analyzer;
using namespace lotus::analyzer::memory_plan;
using lotus::analyzer::memory::Step;
using lotus::analyzer::memory::Storage;
using lotus::analyzer::test::tiny_step;
using lotus::analyzer::test::training_step;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr Mode kAllModes[] = {Mode::numa, Mode::greedy, Mode::fixed, Mode::synchronous};

Rules made_rules(bool persistent_fast = false) {
  Rules rules;
  rules.tier = {.read = 2e9, .write = 1e9, .latency = 2e-6, .fast = 50e9};
  rules.persistent_fast = persistent_fast;
  return rules;
}

// Operators of tiny steps that suffer so much from slow memory that moves are worth it.
Rules hard_rules(bool persistent_fast) {
  Rules rules = made_rules(persistent_fast);
  for (const char* name : {"op0", "op2", "op3"}) rules.kernels.factors[name] = 100;
  return rules;
}

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

bool kept(const Storage& storage) { return storage.older && storage.survives; }

// The end of the step is a moment, too, for what survives.
std::size_t last_moment(const Step& step, const Storage& storage) {
  return storage.survives ? step.operators.size() : storage.released - 1;
}

double slow_operand(const Step& step, const Rules& rules, std::size_t k, std::size_t storage) {
  for (const auto& operand : step.operators[k].operands)
    if (operand.storage == storage) {
      const auto factor = rules.kernels.factors.find(step.operators[k].name);
      if (factor != rules.kernels.factors.end()) {
        double all = 0;
        for (const auto& other : step.operators[k].operands)
          all += static_cast<double>(step.storages[other.storage].bytes);
        return step.operators[k].seconds * (factor->second - 1) *
               static_cast<double>(step.storages[storage].bytes) / all;
      }
      const auto bytes = static_cast<double>(step.storages[storage].bytes);
      return (operand.read ? bytes * (1 / rules.tier.read - 1 / rules.tier.fast) : 0) +
             (operand.written ? bytes * (1 / rules.tier.write - 1 / rules.tier.fast) : 0) +
             rules.tier.latency;
    }
  return 0;
}

bool writes(const Step& step, std::size_t k, std::size_t storage) {
  if (k >= step.operators.size()) return false;
  for (const auto& operand : step.operators[k].operands)
    if (operand.storage == storage) return operand.written;
  return false;
}

double move_in(const Step& step, const Rules& rules, std::size_t storage) {
  return rules.tier.latency + static_cast<double>(rounded(step.storages[storage].bytes)) / rules.tier.read;
}

double move_out(const Step& step, const Rules& rules, std::size_t storage) {
  return rules.tier.latency + static_cast<double>(rounded(step.storages[storage].bytes)) / rules.tier.write;
}

// ---- exhaustive search: every storage at every moment of its life in either memory

struct Life {
  double seconds = 0;
  std::vector<bool> fast;  // by moment from `born`
};

double seconds_of_life(const Step& step, const Rules& rules, std::size_t i, const std::vector<bool>& fast) {
  const std::size_t born = step.storages[i].born;
  double seconds = 0;
  bool copy = false;
  for (std::size_t m = 0; m < fast.size(); ++m) {
    if (m > 0 && fast[m] && !fast[m - 1]) {
      seconds += move_in(step, rules, i);
      copy = true;
    }
    if (m > 0 && !fast[m] && fast[m - 1] && !copy) seconds += move_out(step, rules, i);
    if (!fast[m] && born + m < step.operators.size()) seconds += slow_operand(step, rules, born + m, i);
    if (writes(step, born + m, i)) copy = false;
  }
  return seconds;
}

std::vector<Life> lives_of(const Step& step, const Rules& rules, std::size_t i, bool moves) {
  const Storage& storage = step.storages[i];
  std::vector<Life> lives;
  const std::size_t length = last_moment(step, storage) - storage.born + 1;
  for (std::size_t bits = 0; bits < (std::size_t{1} << length); ++bits) {
    Life life;
    for (std::size_t m = 0; m < length; ++m) life.fast.push_back((bits >> m & 1) != 0);
    const bool moved =
        std::adjacent_find(life.fast.begin(), life.fast.end(), std::not_equal_to<>()) != life.fast.end();
    if (moved && !moves) continue;
    if (kept(storage) && life.fast.front() != life.fast.back()) continue;
    if (kept(storage) && rules.persistent_fast && (moved || !life.fast.front())) continue;
    life.seconds = seconds_of_life(step, rules, i, life.fast);
    lives.push_back(std::move(life));
  }
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) { return a.seconds < b.seconds; });
  return lives;
}

class Exhaustive {
 public:
  Exhaustive(const Step& step, const Rules& rules, std::uint64_t limit, bool moves) : step_(step) {
    room_.assign(step.operators.size() + 1, static_cast<std::int64_t>(limit / 4096 * 4096));
    for (std::size_t k = 0; k < step.operators.size(); ++k) {
      room_[k] -= static_cast<std::int64_t>(rounded(step.operators[k].workspace));
      base_ += step.operators[k].seconds;
      if (room_[k] < 0) impossible_ = true;
    }
    for (std::size_t i = 0; i < step.storages.size(); ++i) lives_.push_back(lives_of(step, rules, i, moves));
  }

  double least() {
    if (!impossible_) place(0, base_);
    return best_;
  }

 private:
  void place(std::size_t i, double seconds) {
    if (seconds >= best_) return;
    if (i == lives_.size()) {
      best_ = seconds;
      return;
    }
    const auto bytes = static_cast<std::int64_t>(rounded(step_.storages[i].bytes));
    for (const Life& life : lives_[i]) {
      bool fits = true;
      for (std::size_t m = 0; m < life.fast.size(); ++m)
        if (life.fast[m] && (room_[step_.storages[i].born + m] -= bytes) < 0) fits = false;
      if (fits) place(i + 1, seconds + life.seconds);
      for (std::size_t m = 0; m < life.fast.size(); ++m)
        if (life.fast[m]) room_[step_.storages[i].born + m] += bytes;
    }
  }

  const Step& step_;
  std::vector<std::int64_t> room_;
  std::vector<std::vector<Life>> lives_;
  double base_ = 0, best_ = kInfinite;
  bool impossible_ = false;
};

// ---- replay of a plan as somebody would execute it: where storages start, and the list of moves

struct Replayed {
  double seconds = 0;
  std::uint64_t most = 0;           // bytes of fast memory
  std::vector<std::string> faults;  // what a machine would have stumbled over
};

Replayed replay(const Planned& planned, const Run& run) {
  const Step& step = planned.step;
  std::map<std::size_t, Decision> decisions;
  for (Decision& decision : decisions_of(planned, run)) decisions[decision.storage] = std::move(decision);
  enum Place { nowhere, fast, both, slow };
  std::vector<Place> at(step.storages.size(), nowhere), begun = at;
  std::vector<std::size_t> next(step.storages.size());
  Replayed replayed;
  const auto fault = [&](const char* what, std::size_t storage, std::size_t k) {
    replayed.faults.push_back(std::string(what) + ": storage " + std::to_string(storage) + " at " +
                              std::to_string(k));
  };
  for (std::size_t k = 0; k <= step.operators.size(); ++k) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Storage& storage = step.storages[i];
      const auto decision = decisions.find(i);
      if (at[i] != nowhere && (k > last_moment(step, storage) || storage.released <= k - 1)) at[i] = nowhere;
      if (k == storage.born && storage.released > storage.born)
        begun[i] = at[i] = decision == decisions.end() || decision->second.starts_fast ? fast : slow;
      if (decision == decisions.end()) continue;
      const auto& moves = decision->second.moves;
      for (; next[i] < moves.size() && moves[next[i]].before == k; ++next[i]) {
        const Move& move = moves[next[i]];
        if (at[i] == nowhere) fault("moves before it is made or after its release", i, k);
        if (move.to_fast && at[i] != slow) fault("moves to fast memory from there", i, k);
        if (!move.to_fast && at[i] == slow) fault("moves to slow memory from there", i, k);
        if (!move.copied && at[i] != both) fault("is dropped without a valid copy", i, k);
        if (move.copied)
          replayed.seconds +=
              move.to_fast ? move_in(step, planned.rules, i) : move_out(step, planned.rules, i);
        at[i] = move.to_fast ? both : slow;
      }
    }
    std::uint64_t taken = 0;
    if (k < step.operators.size()) {
      taken += rounded(step.operators[k].workspace);
      replayed.seconds += step.operators[k].seconds;
      for (const auto& operand : step.operators[k].operands) {
        if (at[operand.storage] == nowhere) fault("is used where it is not", operand.storage, k);
        if (at[operand.storage] == slow)
          replayed.seconds += slow_operand(step, planned.rules, k, operand.storage);
        if (operand.written && at[operand.storage] == both) at[operand.storage] = fast;
      }
    }
    for (std::size_t i = 0; i < at.size(); ++i)
      if (at[i] == fast || at[i] == both) taken += rounded(step.storages[i].bytes);
    replayed.most = std::max(replayed.most, taken);
  }
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto decision = decisions.find(i);
    if (decision != decisions.end() && next[i] != decision->second.moves.size())
      fault("has moves that never come", i, 0);
    if (kept(step.storages[i]) && (at[i] == slow) != (begun[i] == slow))
      fault("does not end where it began", i, 0);
    if (kept(step.storages[i]) && planned.rules.persistent_fast && begun[i] != fast)
      fault("left fast memory", i, 0);
  }
  return replayed;
}

Request exact(SolverChoice solver, std::vector<Limit> limits) {
  return {.limits = std::move(limits),
          .modes = {std::begin(kAllModes), std::end(kAllModes)},
          .solver = solver,
          .effort = {.gap = 0, .time_limit_s = 60}};
}

std::vector<Limit> some_limits(const Planned& planned) {
  const std::uint64_t least = least_of(planned).bytes, peak = planned.peak;
  std::vector<Limit> limits;
  for (const std::uint64_t part : {0, 1, 3, 6, 9, 10})
    limits.push_back({.bytes = least + (peak - least) * part / 10});
  return limits;
}

void check_replay(const Planned& planned, const Run& run) {
  const Replayed replayed = replay(planned, run);
  INFO(std::string(name_of(run.mode)), " with ", run.limit.bytes);
  for (const auto& fault : replayed.faults) FAIL_CHECK(fault);
  CHECK(replayed.seconds == doctest::Approx(run.outcome.seconds).epsilon(1e-9));
  CHECK(replayed.most <= run.limit.bytes);
  CHECK(replayed.most == account_of(planned, run).fast_peak);
}

// At each limit synchronous ≤ static ≤ numa, and synchronous ≤ greedy; no plan takes longer with more memory.
void check_order(const Planned& planned) {
  std::map<Mode, double> with_less;
  for (std::size_t i = 0; i < planned.runs.size(); i += 4) {
    const auto seconds = [&](std::size_t mode) { return planned.runs[i + mode].outcome.seconds; };
    const double slack = 1e-12 * planned.all_slow_seconds;
    CHECK(seconds(3) <= seconds(2) + slack);
    CHECK(seconds(2) <= seconds(0) + slack);
    CHECK(seconds(3) <= seconds(1) + slack);
    CHECK(seconds(3) >= planned.all_fast_seconds - slack);
    for (std::size_t mode : {2, 3}) {
      const auto known = with_less.find(kAllModes[mode]);
      if (known != with_less.end()) CHECK(seconds(mode) <= known->second + slack);
      with_less[kAllModes[mode]] = seconds(mode);
    }
  }
}

void compare_with_exhaustive(SolverChoice solver, int steps) {
  std::mt19937 random(7);
  int moved = 0, between = 0;
  for (int i = 0; i < steps; ++i) {
    const Step step = tiny_step(random);
    const Rules rules = i % 2 == 0 ? made_rules(i % 5 == 4) : hard_rules(i % 5 == 4);
    Planned plans = planned(step, rules);
    plan_for(plans, exact(solver, some_limits(plans)));
    for (const Run& run : plans.runs) {
      CAPTURE(i);
      check_replay(plans, run);
      if (!run.gap) continue;
      const double least = Exhaustive(step, rules, run.limit.bytes, run.mode == Mode::synchronous).least();
      CAPTURE(run.limit.bytes);
      CAPTURE(std::string(name_of(run.mode)));
      CHECK(run.note == "");
      CHECK(run.outcome.seconds == doctest::Approx(least).epsilon(1e-6));
      CHECK(run.status == "optimal");
      moved += run.outcome.moves.empty() ? 0 : 1;
      between += run.outcome.seconds > plans.all_fast_seconds && run.outcome.seconds < plans.all_slow_seconds
                     ? 1
                     : 0;
    }
    check_order(plans);
  }
  CHECK(moved > steps / 10);  // so that the steps ask what they are made to ask
  CHECK(between > steps);
}

}  // namespace

TEST_CASE("plan: the built-in solver finds what an exhaustive search finds") {
  compare_with_exhaustive(SolverChoice::builtin, 200);
}

TEST_CASE("plan: cbc finds what an exhaustive search finds") {
  if (!find_solver(SolverKind::cbc)) return;
  compare_with_exhaustive(SolverChoice::cbc, 20);
}

TEST_CASE("plan: a training step of 1,000 operators has a plan within the gap and its time limit") {
  std::mt19937 random(3);
  const Step step = training_step(143, random);
  REQUIRE(step.operators.size() >= 1000);
  const Rules rules = made_rules();
  Planned plans = planned(step, rules);
  Request request = exact(SolverChoice::builtin, {{.bytes = plans.peak / 9}, {.bytes = plans.peak / 2}});
  request.effort = {.gap = 0.01, .time_limit_s = 20};
  plan_for(plans, request);
  for (const Run& run : plans.runs) {
    check_replay(plans, run);
    if (!run.gap) continue;
    MESSAGE(std::string(name_of(run.mode)), " with ", run.limit.bytes, ": ", run.optimization_seconds,
            " s, gap ", *run.gap);
    CHECK(run.outcome.seconds < plans.all_slow_seconds);
  }
  check_order(plans);
}

TEST_CASE("plan: built-in solver and cbc agree within their gaps") {
  if (!find_solver(SolverKind::cbc)) return;
  std::mt19937 random(5);
  const Step step = training_step(12, random);
  const Rules rules = made_rules();
  Planned one = planned(step, rules), other = planned(step, rules);
  Request request = exact(SolverChoice::builtin, {{.bytes = one.peak / 9}, {.bytes = one.peak / 3}});
  request.effort.gap = 0.01;
  plan_for(one, request);
  request.solver = SolverChoice::cbc;
  plan_for(other, request);
  for (std::size_t i = 0; i < one.runs.size(); ++i) {
    if (!one.runs[i].gap) continue;
    const double a = one.runs[i].outcome.seconds, b = other.runs[i].outcome.seconds;
    CHECK(one.runs[i].solver == "builtin");
    CHECK(other.runs[i].solver == "cbc");
    CHECK(other.runs[i].note == "");
    CHECK(a * (1 - *one.runs[i].gap) <= b * (1 + 1e-9));
    CHECK(b * (1 - *other.runs[i].gap) <= a * (1 + 1e-9));
    check_replay(other, other.runs[i]);
  }
}

TEST_CASE("plan: with the peak as limit nothing moves, whatever the plan") {
  std::mt19937 random(11);
  const Step step = training_step(4, random);
  const Rules rules = made_rules();
  Planned plans = planned(step, rules);
  plan_for(plans, exact(SolverChoice::builtin, {{.bytes = plans.peak}}));
  for (const Run& run : plans.runs) {
    if (run.mode == Mode::numa) continue;  // addresses may be scattered
    CHECK(run.outcome.moves.empty());
    CHECK(run.outcome.seconds == doctest::Approx(plans.all_fast_seconds));
    CHECK(decisions_of(plans, run).empty());
  }
}

TEST_CASE("plan: floor and peak of a step by hand") {
  Step step;
  step.operators.resize(3);
  step.storages = {{.bytes = 4097, .born = 0, .released = 3, .older = true, .survives = true, .uses = {}},
                   {.bytes = 4096, .born = 0, .released = 2, .uses = {}},
                   {.bytes = 1, .born = 1, .released = 3, .uses = {}}};
  step.operators[0].operands = {{0, true, false}, {1, false, true}};
  step.operators[1].operands = {{1, true, false}, {2, false, true}};
  step.operators[1].workspace = 10000;
  step.operators[2].operands = {{0, true, true}, {2, true, false}};
  test::fill_uses(step);
  const Floor floor = floor_of(step, {});
  CHECK(floor.bytes == 4096 + 4096 + 12288);
  CHECK(floor.op == 1);
  CHECK(peak_bytes(step) == 8192 + 4096 + 4096 + 12288);
  Rules rules;
  rules.persistent_fast = true;
  CHECK(floor_of(step, rules).bytes == 8192 + 4096 + 4096 + 12288);
  CHECK(io_bytes(step) == 0);
}

TEST_CASE("plan: first touch takes what fits by best fit, for its whole life") {
  Step step;
  step.operators.resize(3);
  const auto storage = [](std::uint64_t pages, std::size_t born, std::size_t released) {
    return Storage{.bytes = pages * 4096, .born = born, .released = released, .uses = {}};
  };
  // Two holes of 2 and 1 pages open at operator 1; the page goes into the small one, so that 2 still fit.
  step.storages = {storage(2, 0, 1), storage(1, 0, 3), storage(1, 0, 1),
                   storage(1, 1, 3), storage(2, 1, 3), storage(1, 1, 3)};
  for (std::size_t i = 0; i < step.storages.size(); ++i)
    step.operators[step.storages[i].born].operands.push_back({i, false, true});
  test::fill_uses(step);
  const Rules rules;
  const Problem whole = collapsed(problem_of(step, rules));
  const Placement placement = first_touch(whole, 4);
  const std::vector<bool> fast = {true, true, true, true, true, false};
  for (std::size_t i = 0; i < fast.size(); ++i) CHECK(placement[i].front() == fast[i]);
}

TEST_CASE("plan: a measured operator takes its factor, shared out by bytes") {
  Step step;
  step.operators.resize(1);
  step.operators[0].name = "aten::mm";
  step.operators[0].seconds = 2;
  step.storages = {{.bytes = 3000, .born = 0, .released = 1, .older = true, .uses = {}},
                   {.bytes = 1000, .born = 0, .released = 1, .uses = {}}};
  step.operators[0].operands = {{0, true, false}, {1, false, true}};
  test::fill_uses(step);
  Rules rules;
  rules.kernels.factors["aten::mm"] = 3;
  const Planned plans = planned(step, rules);
  CHECK(plans.all_fast_seconds == 2);
  CHECK(plans.all_slow_seconds == doctest::Approx(6));
  CHECK(plans.problem.items[0].segments[0].slow_seconds == doctest::Approx(3));
}
