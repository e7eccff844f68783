// Records of the operator lane, within the bounds of a step.
#pragma once

#include <cstdint>

#include "record/recorder.hpp"

namespace lotus {

struct StepLane {
  bool recording;                     // this thread is inside a step or a region that is recorded
  std::uint8_t backward, optimizing;  // calls of autograd's backward and of an optimizer's step that are open
  bool observing;                     // its operators are observed; a child of a fork has that, too
  std::uint32_t generation;
};
extern constinit thread_local StepLane step_lane;

inline bool records_step() { return step_lane.recording; }

// A step of a large model has some ten thousand records; a region of a thousand iterations a few hundred
// thousand.
inline constexpr std::uint64_t kMostRecords = 1'000'000;

// Of the step or region that is recorded.
struct LaneUse {
  std::uint64_t records, operators, nested, calls, blocks;  // blocks: of memory, given out or taken back
  std::uint64_t operator_ticks, call_ticks;                 // what we took for them
  bool full;  // there were too many records, and the later ones are missing
  bool calls_missing;
};
extern constinit LaneUse lane_use;

// The recorder of the thread that trains, as long as it records; else nullptr.
inline Thread* recording_thread() {
  if (!step_lane.recording || step_lane.generation != process.generation || lane_use.full) return nullptr;
  if (lane_use.records >= kMostRecords) {
    lane_use.full = true;
    return nullptr;
  }
  return current_thread();
}

template <Kind K, class... Values>
void put_at(Thread& thread, std::uint64_t now, Values... values) {
  detail::make_room(thread);
  detail::append<K>(thread, now, values...);
  ++lane_use.records;
}

}  // namespace lotus
