#include "operators/regions.hpp"

#include <string_view>

#include "operators/activations.hpp"
#include "operators/compilations.hpp"
#include "operators/places.hpp"
#include "operators/region_name.hpp"
#include "operators/step_lane.hpp"
#include "python/recorded_calls.hpp"
#include "python/shown_frames.hpp"
#include "record/recorder.hpp"
#include "system/thread_id.hpp"

namespace lotus {
namespace {

struct Regions {
  const char* name = nullptr;
  RecordedSteps which = RecordedSteps::automatic;
  Turns turns;
  bool inside = false;           // a call of the function is open
  std::uint32_t generation = 0;  // of `inside`
};
constinit Regions regions{};

bool begins_here() {
  if (process.off || process.worker || python_thread.context != nullptr || !is_main_thread()) return false;
  return !(regions.inside && regions.generation == process.generation) && step_lane.backward == 0;
}

// As long as it is open.
class Region {
 public:
  explicit Region(const Call& call) {
    const std::uint64_t number = regions.turns.next();
    number_ = number;
    if (regions.which != RecordedSteps::none) tell_compilations(0);
    regions.inside = true;
    regions.generation = generation_ = process.generation;
    const bool records = regions.turns.records(regions.which);
    if ((!records && !regions.turns.times()) || current_thread() == nullptr) return;
    show_frames(call.state);
    const std::uint32_t place = current_place();
    if (records) observe_operators();
    opened_ = begin_recorded_region(number, place, records);
    if (records && opened_) call_ = begin_region_activation(call.state, call.frame, call.code, place);
  }
  ~Region() {
    if (generation_ != process.generation) return;  // a child of it
    regions.inside = false;
    if (opened_) {
      record_return(call_);
      regions.turns.spent(end_recorded_region());
      stop_observing_operators();
    }
    if (regions.which != RecordedSteps::none) tell_compilations(number_ + 1);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  std::uint32_t generation_ = 0;
  std::uint64_t number_ = 0;
  bool opened_ = false;
  RecordedCall call_;
};

py::Object* call_region(Call& call) {
  if (!begins_here() || !is_region(call, regions.name)) return call.run();
  const Region region(call);
  return call.run();
}

constexpr Role kRole = {"", "", call_region, {}};

}  // namespace

void choose_region(const char* name, RecordedSteps which) {
  regions.name = name;
  regions.which = which;
}

bool region_was_met() { return regions.turns.next() != 0; }

const Role* region_role(py::Object* code, std::string_view name) {
  return regions.name != nullptr && may_be_region(code, name, regions.name) ? &kRole : nullptr;
}

}  // namespace lotus
