// What `control-flow` says of the regions of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/controlflow/compiled.hpp"
#include "answers/controlflow/constructs.hpp"
#include "answers/memory/source.hpp"

namespace lotus::analyzer::controlflow {

struct ConstructAnswer {
  ConstructKind kind = ConstructKind::loop;
  ConstructKey key;  // of what Construct::tested_in names
  memory::SourceLine source;
  Construct sums;  // over RegionAnswer::used calls
  bool is_for = false;

  // Of a branch whose test waits for data and whose sides join: what a visit costs. Nothing of it is known
  // where one side was never taken.
  struct Skip {
    bool known = false;
    bool costly_is_taken = true;  // the side that takes longer is the one behind a test that is true
    double costly_ns = 0, cheap_ns = 0, decision_ns = 0;
    double executed = 0;  // share of visits that took the costly side
    double benefit_ns =
        0;  // what a visit gains by the branch, on average; negative: it would be faster without
    double break_even = 0;  // the executed share up to which the branch pays; below 0: never
  };
  Skip skip() const;
};

// In ns of a call.
struct Ladder {
  double as_is = 0, without_control = 0, straight_line = 0, compiled_low = 0, compiled_high = 0,
         operators = 0;
};

struct RegionAnswer {
  const Process* process = nullptr;
  std::string name;
  bool is_step = false;
  std::uint64_t recorded = 0, used = 0;  // calls; used: those that the rest is the mean of
  std::uint64_t timed = 0;               // calls of which only the time was recorded
  double timed_ns = 0;                   // the median of theirs, if any
  std::optional<double> waited_ns;       // of a call: in which the thread did not compute, if that is known
  std::uint64_t incomplete = 0;          // recorded calls that are not whole
  bool usual = true;                     // the used ones are whole, and nothing was compiled in them
  bool has_first = false;                // the first of the run is among them
  Parts parts;                           // of a call
  Parts outside;                         // of it, outside of loops and recursions
  double operators = 0, control_operators = 0, python_calls = 0;  // of a call
  double straight_python = 0;  // ns of Python that a straight line of the same operators would take
  bool calls_seen = true, lower_bound = false, cost_known = true;
  bool codes_known = true;                  // bytecode of Python functions
  bool compiled = false;                    // it runs code that torch.compile made, whose inside is not seen
  CompiledAnswer compilation;               // what torch.compile says of itself
  std::vector<ConstructAnswer> constructs;  // what costs most control flow first, by kind
  std::vector<memory::SourceLine> around;   // a step's: loops of the program in which it lies

  // So much of a call is no computing that what is control flow of it is not known: it lies between …
  bool waits() const;
  // Recording took so much of the call that an error of its estimate is as large as what is left.
  bool is_hidden() const;
  // Nor where part of it is compiled already, what compiling gains.
  bool gain_is_known() const { return !waits() && !is_hidden() && operators > 0 && !compilation.runs(); }
  // … these, by whether all waiting was in Python or in operators.
  double overhead_low() const;
  double overhead() const;  // (P + K) / (N + P + K)
  // How many times as fast a call would be, compiled: with what an operator then costs, and without.
  double speedup_low() const, speedup_high() const;
  Ladder ladder() const;
  double per_call(std::uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(used);
  }
};

// Below it, control flow is not worth anybody's time.
inline constexpr double kNothingToGain = 0.05;
// Below it, waiting is not told: other programs take a core now and then.
inline constexpr double kMuchWaiting = 0.25;
// What calling an operator costs from compiled code, ns, at most: about 0.1 µs in libtorch's own executor.
inline constexpr double kDispatchNs = 100;

// By process and function.
std::vector<RegionAnswer> answers_of(const std::vector<Region>& regions);

}  // namespace lotus::analyzer::controlflow
