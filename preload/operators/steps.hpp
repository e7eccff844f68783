// Which steps of training are recorded, and where they begin and end.
//
// A step is what lies between two times that training asks its loader for a batch; where it has none, between
// two ends of its optimizer's step.
#pragma once

#include <cstdint>

#include "operators/step_lane.hpp"
#include "operators/turns.hpp"
#include "python/call.hpp"

namespace lotus {

// Before the first step.
void choose_steps(RecordedSteps which);
// None is recorded, since regions are. `wanted`: some would be otherwise; the trace of a training says so.
void leave_steps_to_regions(bool wanted);
// Of steps that are recorded, the calls of Python functions are, too.
void record_control_flow();
bool records_all_steps();

// A loader's iterator is asked for a batch. Where several are, the one that was asked first tells the steps.
void step_by_loader(py::ThreadState* state, std::uint64_t iterator);

// A part of the step that is recorded in this thread, if one is.
class PhaseScope {
 public:
  explicit PhaseScope(StepPhase phase);
  ~PhaseScope();
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  bool active_;
  std::uint64_t step_;
  StepPhase before_;
};

// Around an optimizer's step.
class OptimizerStep {
 public:
  OptimizerStep(py::ThreadState* state, const py::Object* optimizer);
  ~OptimizerStep();
  OptimizerStep(const OptimizerStep&) = delete;
  OptimizerStep& operator=(const OptimizerStep&) = delete;

 private:
  py::ThreadState* state_;
  const py::Object* optimizer_;
  PhaseScope phase_;
};

// Around autograd's backward pass. No step begins or ends in it: PyTorch puts back the observers of operators
// that there were before.
class BackwardPass {
 public:
  BackwardPass();
  ~BackwardPass();
  BackwardPass(const BackwardPass&) = delete;
  BackwardPass& operator=(const BackwardPass&) = delete;

 private:
  PhaseScope phase_;
};

// In a worker that was forked inside a step: its operators are observed no more.
void leave_steps();

}  // namespace lotus
