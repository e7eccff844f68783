#include "operators/steps.hpp"

#include "operators/activations.hpp"
#include "operators/compilations.hpp"
#include "operators/offload.hpp"
#include "python/shown_frames.hpp"
#include "record/recorder.hpp"
#include "system/thread_id.hpp"

namespace lotus {
namespace {

// What tells the steps. Two loaders that are asked in turn make one step.
class Teller {
 public:
  // False: `key` only goes along with the one that tells.
  bool tells(std::uint64_t key) {
    if (key == teller_ || key == other_ || teller_ == 0) {
      teller_ = key;
      other_ = 0;
      return true;
    }
    other_ = key;
    return false;
  }
  void forget() { teller_ = other_ = 0; }

 private:
  std::uint64_t teller_ = 0, other_ = 0;
};

struct Steps {
  RecordedSteps which = RecordedSteps::automatic;
  bool by_loader = false;
  bool refused = false;
  Teller teller;
  bool control_flow = false;
  bool for_region = false, told = false;  // regions are recorded in their place, and the trace says so
  Turns turns;
};
constinit Steps steps{};

bool may_record() {
  return steps.which != RecordedSteps::none && !steps.refused && !process.off && !process.worker &&
         is_main_thread();
}

// A training of which a region is recorded, or would be if it was met, has no steps in its trace: why, is
// told.
void tell_region_instead() {
  if (!steps.for_region || steps.told || process.off || process.worker || !is_main_thread()) return;
  steps.told = define<Kind::no_steps>(std::string_view(
      "LOTUS_REGION was set: calls of that function are recorded in place of training steps"));
}

void turn(py::ThreadState* state) {
  if (step_lane.recording) steps.turns.spent(end_recorded_step());
  const std::uint64_t number = steps.turns.next();
  if (steps.control_flow && steps.which != RecordedSteps::none)
    tell_compilations(number);  // the step before this one has ended
  if (!steps.turns.records(steps.which)) return stop_observing_operators();
  if (current_thread() == nullptr) return;
  show_frames(state);
  begin_offload_step(number);
  begin_recorded_step(number);
  if (!observe_operators()) steps.refused = true;
  if (steps.control_flow && !steps.refused) begin_activations(state);
}

}  // namespace

void choose_steps(RecordedSteps which) { steps.which = which; }
void leave_steps_to_regions(bool wanted) {
  steps.which = RecordedSteps::none;
  steps.for_region = wanted;
}
void record_control_flow() { steps.control_flow = true; }
bool records_all_steps() { return steps.which == RecordedSteps::all; }

void step_by_loader(py::ThreadState* state, std::uint64_t iterator) {
  tell_region_instead();
  if (step_lane.backward > 0 || !may_record()) return;
  if (!steps.by_loader) {
    steps.by_loader = true;
    steps.teller.forget();
  }
  if (steps.teller.tells(iterator)) turn(state);
}

PhaseScope::PhaseScope(StepPhase phase)
    : active_(records_step()), step_(steps.turns.next()), before_(active_ ? enter_phase(phase) : phase) {}

PhaseScope::~PhaseScope() {
  if (active_ && records_step() && step_ == steps.turns.next()) enter_phase(before_);
}

OptimizerStep::OptimizerStep(py::ThreadState* state, const py::Object* optimizer)
    : state_(state), optimizer_(optimizer), phase_(StepPhase::optimizer) {
  ++step_lane.optimizing;
}

OptimizerStep::~OptimizerStep() {
  tell_region_instead();
  if (--step_lane.optimizing > 0 || step_lane.backward > 0 || steps.by_loader || !may_record()) return;
  if (steps.teller.tells(reinterpret_cast<std::uint64_t>(optimizer_))) turn(state_);
}

BackwardPass::BackwardPass() : phase_(StepPhase::backward) { ++step_lane.backward; }
BackwardPass::~BackwardPass() { --step_lane.backward; }

void leave_steps() {
  forget_step();
  stop_observing_operators();
  steps.refused = true;
}

}  // namespace lotus
