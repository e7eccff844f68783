// Plans of a step for several sizes of fast memory, with the baselines beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/plan/offload.hpp"
#include "answers/plan/placement.hpp"
#include "answers/plan/search.hpp"

namespace lotus::analyzer::memory_plan {

// `fixed`: AutoTM's "static"; `offload`: what a program can carry out, see offload.hpp.
enum class Mode : std::uint8_t { numa, greedy, fixed, synchronous, offload };

constexpr const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::numa:
      return "numa";
    case Mode::greedy:
      return "greedy";
    case Mode::fixed:
      return "static";
    case Mode::offload:
      return "offload";
    default:
      return "synchronous";
  }
}

struct Limit {
  std::uint64_t bytes = 0;  // of fast memory
  std::string ratio{};      // as it was asked for, slow to fast: "8:1"; empty: it was asked for in bytes
};

// `automatic`: built in, and where that does not reach the gap soon, highs or cbc if it is there.
enum class SolverChoice : std::uint8_t { automatic, cbc, highs, builtin };

struct Request {
  std::vector<Limit> limits;
  std::vector<Mode> modes;
  SolverChoice solver = SolverChoice::automatic;
  Effort effort;
};

struct Run {
  Mode mode = Mode::synchronous;
  Limit limit;
  std::string solver;         // empty: none, as of baselines
  std::string status;         // "optimal" within the gap, "feasible", or "baseline"
  std::optional<double> gap;  // of the predicted time over its lower bound, as a share; nullopt: a baseline
  double creation_seconds = 0, optimization_seconds = 0;
  std::string note;     // what went wrong on the way; empty: nothing
  Placement placement;  // of the problem, not collapsed
  Outcome outcome;
};

// A step with its rules, as plans see it.
struct Planned {
  const memory::Step& step;
  const Rules& rules;
  Problem problem;
  OffloadProblem offload;
  Floor floor;
  std::uint64_t peak = 0;  // bytes: the most that is live at once
  double all_fast_seconds = 0, all_slow_seconds = 0;
  std::vector<Run> runs;  // by limit, the smallest first, then by mode
};

// The step as a problem, without runs. Refers to both arguments.
Planned planned(const memory::Step& step, const Rules& rules);

// The least limit, in bytes, for which there is a plan at all, and the operator that needs it: what no plan
// may place. Less than the floor, as operators may work in slow memory.
Floor least_of(const Planned& planned);
// The same for a plan of the mode offload: what stays in fast memory whatever is moved.
Floor least_of_offload(const Planned& planned);

// Adds the runs. Each limit must be at least least_of(), or least_of_offload(). A plan is never worse than
// that of a smaller limit, a synchronous one never worse than the static one, that one never worse than numa.
// Throws WrongUsage where the chosen solver is not installed.
void plan_for(Planned& planned, const Request& request);

}  // namespace lotus::analyzer::memory_plan
