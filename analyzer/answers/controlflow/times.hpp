// What the time of a region consists of.
#pragma once

#include <cstdint>
#include <vector>

#include "answers/controlflow/data_flow.hpp"
#include "answers/controlflow/region.hpp"

namespace lotus::analyzer::controlflow {

// In ns. All of them are at least 0.
struct Parts {
  double native = 0;   // operators that do the model's work
  double control = 0;  // operators that only serve control flow
  double python = 0;   // between operators: the interpreter, calls, arguments
  double tracing = 0;  // recording it

  double untraced() const { return native + control + python; }
  double all() const { return untraced() + tracing; }
  void add(const Parts& other, double times = 1) {
    native += times * other.native;
    control += times * other.control;
    python += times * other.python;
    tracing += times * other.tracing;
  }
};

// Time in an activation between two of its events.
struct Gap {
  static constexpr std::size_t kNobody = Activation::kNobody;

  std::size_t activation = kNobody;  // nobody: outside of all that are known
  std::size_t before = 0;            // the number of the activation's events that came before
  Parts parts;                       // python and tracing
};

struct Times {
  std::vector<Parts> operators;    // beside Region::operators
  std::vector<Gap> gaps;           // in the order of time
  std::vector<Parts> activations;  // beside Region::activations: with all that they called
  Parts all;
};

// Operators' and gaps' times without what recording took, as far as that is known: Process::lane_cost and
// Region::cost. No time becomes negative: what is too much for one gap is taken from those after it.
// `factor`: of what recording is said to have taken.
Times times_of(const Region& region, const DataFlow& flow, double factor = 1);

}  // namespace lotus::analyzer::controlflow
