#include "answers/plan/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "answers/plan/baselines.hpp"
#include "answers/plan/mps.hpp"
#include "answers/plan/solver_command.hpp"
#include "text/error.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kAgrees = 1e-3;     // a solver's objective with what its columns come to, as a share
constexpr double kFirstShare = 0.1;  // of the time limit, for the built-in solver before another one
constexpr double kBoundSeconds = 5;  // at most, for our own bound beside a solver's word

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

struct External {
  SolverKind kind;
  std::string program;
};

std::optional<External> external_of(SolverChoice choice) {
  if (choice == SolverChoice::builtin) return std::nullopt;
  for (const SolverKind kind : {SolverKind::highs, SolverKind::cbc}) {
    const bool asked = choice == SolverChoice::automatic ||
                       choice == (kind == SolverKind::cbc ? SolverChoice::cbc : SolverChoice::highs);
    if (!asked) continue;
    if (const auto program = find_solver(kind)) return External{kind, *program};
    if (choice != SolverChoice::automatic)
      throw WrongUsage(
          fmt::format("--solver {0}: there is no {0} in PATH; install it{1}, or give --solver "
                      "builtin",
                      name_of(kind), kind == SolverKind::cbc ? " (coinor-cbc in Debian)" : ""));
  }
  return std::nullopt;
}

constexpr const char* kModelNote =
    "A model of memory that the machine may not have; pages of 4 KiB, time in us";

class Planner {
 public:
  Planner(Planned& planned, const Request& request)
      : planned_(planned),
        request_(request),
        external_(external_of(request.solver)),
        whole_(collapsed(planned.problem)) {
    for (const auto& op : planned.step.operators) seconds_.push_back(op.seconds);
  }

  void run(const Limit& limit) {
    pages_ = static_cast<std::int64_t>(limit.bytes / kPage);
    const Placement touched = first_touch(whole_, pages_);
    const Placement freed = greedy(planned_.problem, seconds_, pages_);
    for (const Mode mode : request_.modes) {
      Run run;
      run.mode = mode;
      run.limit = limit;
      run.status = "baseline";
      if (mode == Mode::numa) run.placement = expanded(planned_.problem, touched);
      if (mode == Mode::greedy) run.placement = freed;
      if (mode == Mode::fixed) solve_fixed(run, touched);
      if (mode == Mode::synchronous) solve_synchronous(run, touched, freed);
      if (mode == Mode::offload) solve_offload(run);
      run.outcome = outcome_of(planned_.problem, run.placement);
      planned_.runs.push_back(std::move(run));
    }
  }

 private:
  // The first is always allowed; the others where they are there.
  Placement best_of(const Problem& problem, const std::vector<const Placement*>& candidates) const {
    Placement best = all_in(problem, false);
    double least = seconds_of(problem, best);
    for (const Placement* placement : candidates) {
      if (placement->empty() || !allowed(problem, *placement, pages_)) continue;
      if (const double seconds = seconds_of(problem, *placement); seconds < least) {
        least = seconds;
        best = *placement;
      }
    }
    improve(problem, pages_, best);
    return best;
  }

  void solve_fixed(Run& run, const Placement& touched) {
    const Placement start = best_of(whole_, {&touched, &fixed_});
    fixed_ = solve(run, whole_, start);
    run.placement = expanded(planned_.problem, fixed_);
  }

  void solve_synchronous(Run& run, const Placement& touched, const Placement& freed) {
    const Placement kept = expanded(planned_.problem, touched);
    const Placement fixed = fixed_.empty() ? Placement() : expanded(planned_.problem, fixed_);
    const Placement start = best_of(planned_.problem, {&kept, &freed, &fixed, &synchronous_});
    synchronous_ = solve(run, planned_.problem, start);
    run.placement = synchronous_;
  }

  void solve_offload(Run& run) {
    const Problem& problem = planned_.offload.problem;
    const Placement kept = all_in(problem, true);
    offloaded_ = solve(run, problem, best_of(problem, {&kept, &offloaded_}));
    run.placement = whole_placement(planned_.problem, planned_.offload, offloaded_);
  }

  // Built in first where nothing else is asked for: most steps need no other solver.
  Placement solve(Run& run, const Problem& problem, Placement start) {
    const bool automatic = request_.solver == SolverChoice::automatic;
    if (automatic || !external_) {
      Effort effort = request_.effort;
      if (external_) effort.time_limit_s *= kFirstShare;
      const Solved solved = by_search(run, problem, start, effort);
      if (!external_ || solved.reached(request_.effort.gap)) return solved.placement;
      start = solved.placement;
    }
    const auto begun = Clock::now();
    const std::string model = mps_text(problem, pages_, kModelNote);
    run.creation_seconds = seconds_since(begun);
    if (auto solved = by_external(run, problem, start, model)) return std::move(*solved);
    return by_search(run, problem, start, request_.effort).placement;
  }

  Solved by_search(Run& run, const Problem& problem, const Placement& start, const Effort& effort) const {
    const auto begun = Clock::now();
    Solved solved = search(problem, pages_, effort, start);
    run.optimization_seconds += seconds_since(begun);
    run.solver = "builtin";
    tell(run, solved, false);
    return solved;
  }

  // nullopt: it gave nothing that can be used; the run has a note.
  std::optional<Placement> by_external(Run& run, const Problem& problem, const Placement& start,
                                       const std::string& model) {
    const auto begun = Clock::now();
    const SolverAnswer answer = run_solver(external_->kind, external_->program, model, request_.effort);
    run.optimization_seconds += seconds_since(begun);
    std::string trouble = answer.trouble;
    std::optional<Placement> found;
    if (trouble.empty()) found = placement_of(problem, answer.columns);
    if (trouble.empty() && (!found || !allowed(problem, *found, pages_)))
      trouble = "wrote a solution that breaks the model's rules";
    if (!trouble.empty()) {
      run.note = fmt::format("{} {}; the built-in solver did it instead", name_of(external_->kind), trouble);
      return std::nullopt;
    }
    const double seconds = seconds_of(problem, *found);
    const bool agrees = std::abs(answer.objective / kUsPerS - seconds) <= kAgrees * seconds;
    if (!agrees)
      run.note =
          fmt::format("{} tells another time for its solution than it comes to; the gap is Lotus's own",
                      name_of(external_->kind));
    if (seconds_of(problem, start) < seconds) found = start;
    Solved solved{.placement = std::move(*found), .seconds = 0, .bound = 0};
    solved.seconds = seconds_of(problem, solved.placement);
    Effort effort = request_.effort;
    effort.time_limit_s = std::min(effort.time_limit_s, kBoundSeconds);
    solved.bound = bound_of(problem, pages_, effort, solved.placement);
    run.solver = name_of(external_->kind);
    tell(run, solved, answer.optimal && agrees);
    return std::move(solved.placement);
  }

  // `told`: a solver gives its word that the gap is reached.
  void tell(Run& run, const Solved& solved, bool told) const {
    const double gap =
        solved.seconds > 0 ? std::max(0.0, (solved.seconds - solved.bound) / solved.seconds) : 0.0;
    run.gap = told ? std::min(gap, request_.effort.gap) : gap;
    run.status = told || solved.reached(request_.effort.gap) ? "optimal" : "feasible";
  }

  Planned& planned_;
  const Request& request_;
  std::optional<External> external_;
  Problem whole_;
  std::vector<double> seconds_;
  std::int64_t pages_ = 0;
  Placement fixed_, synchronous_, offloaded_;  // of the smaller limit
};

}  // namespace

Planned planned(const memory::Step& step, const Rules& rules) {
  Planned made{.step = step,
               .rules = rules,
               .problem = problem_of(step, rules),
               .offload = {},
               .floor = floor_of(step, rules),
               .peak = peak_bytes(step),
               .runs = {}};
  made.offload = offload_problem(step, made.problem);
  made.all_fast_seconds = made.problem.base_seconds;
  made.all_slow_seconds = made.problem.all_slow_seconds();
  return made;
}

namespace {
Floor most_taken(const Problem& problem, std::size_t operators) {
  const auto most = std::max_element(problem.taken.begin(), problem.taken.end());
  const auto moment = static_cast<std::size_t>(most - problem.taken.begin());
  return {static_cast<std::uint64_t>(*most) * kPage,
          moment < operators ? std::optional(moment) : std::nullopt};
}
}  // namespace

Floor least_of(const Planned& planned) { return most_taken(planned.problem, planned.step.operators.size()); }

Floor least_of_offload(const Planned& planned) {
  return most_taken(planned.offload.problem, planned.step.operators.size());
}

void plan_for(Planned& planned, const Request& request) {
  std::vector<Limit> limits = request.limits;
  std::stable_sort(limits.begin(), limits.end(),
                   [](const Limit& a, const Limit& b) { return a.bytes < b.bytes; });
  Request ordered = request;
  std::sort(ordered.modes.begin(), ordered.modes.end());  // a plan begins with what was found before it
  ordered.modes.erase(std::unique(ordered.modes.begin(), ordered.modes.end()), ordered.modes.end());
  Planner planner(planned, ordered);
  for (const Limit& limit : limits) planner.run(limit);
}

}  // namespace lotus::analyzer::memory_plan
