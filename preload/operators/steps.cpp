#include "operators/steps.hpp"

#include "operators/offload.hpp"
#include "python/shown_frames.hpp"
#include "record/recorder.hpp"
#include "system/thread_id.hpp"

namespace lotus {
namespace {

constexpr std::uint64_t kFirstSteps = 4;  // recorded in any case
constexpr std::uint64_t kLaterSteps = 2;  // … together, later: what outlives a step is told by the next one
constexpr std::uint64_t kMostOfTime = 333;  // 0.3 %

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
  std::uint64_t next = 0;            // number of the next step
  std::uint64_t left = kFirstSteps;  // to be recorded now, one after the other
  std::uint64_t begin = 0;           // ticks, of the first one
  std::uint64_t cost = 0;            // ticks, of all that were recorded
};
constinit Steps steps{};

bool may_record() {
  return steps.which != RecordedSteps::none && !steps.refused && !process.off && !process.worker &&
         is_main_thread();
}

bool records_next() {
  if (steps.which == RecordedSteps::all) return true;
  const std::uint64_t now = ticks_now();
  if (steps.next == 0) steps.begin = now;
  if (steps.left == 0 && steps.next > kFirstSteps && (now - steps.begin) / kMostOfTime > steps.cost)
    steps.left = kLaterSteps;
  if (steps.left == 0) return false;
  --steps.left;
  return true;
}

void turn(py::ThreadState* state) {
  if (step_lane.recording) steps.cost += end_recorded_step();
  const bool records = records_next();
  const std::uint64_t number = steps.next++;
  if (!records) return stop_observing_operators();
  if (current_thread() == nullptr) return;
  show_frames(state);
  begin_offload_step(number);
  begin_recorded_step(number);
  if (!observe_operators()) steps.refused = true;
}

}  // namespace

void choose_steps(RecordedSteps which) { steps.which = which; }
bool records_all_steps() { return steps.which == RecordedSteps::all; }

void step_by_loader(py::ThreadState* state, std::uint64_t iterator) {
  if (step_lane.backward > 0 || !may_record()) return;
  if (!steps.by_loader) {
    steps.by_loader = true;
    steps.teller.forget();
  }
  if (steps.teller.tells(iterator)) turn(state);
}

PhaseScope::PhaseScope(StepPhase phase)
    : active_(records_step()), step_(steps.next), before_(active_ ? enter_phase(phase) : phase) {}

PhaseScope::~PhaseScope() {
  if (active_ && records_step() && step_ == steps.next) enter_phase(before_);
}

OptimizerStep::OptimizerStep(py::ThreadState* state, const py::Object* optimizer)
    : state_(state), optimizer_(optimizer), phase_(StepPhase::optimizer) {
  ++step_lane.optimizing;
}

OptimizerStep::~OptimizerStep() {
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
