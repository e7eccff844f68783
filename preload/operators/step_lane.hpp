// The operator lane: what PyTorch's operators do in a step of training that is recorded. Of each operator
// that no other one calls: its time, the line of the program that called it, the storages that it uses; and
// each block of memory that PyTorch's CPU allocator gives out and takes back meanwhile.
//
// It is of one thread, the one that trains; operators of other threads are not its.
#pragma once

#include <cstdint>
#include <lotus/events.hpp>

namespace lotus {

struct StepLane {
  bool recording;                     // this thread is inside a step that is recorded
  std::uint8_t backward, optimizing;  // calls of autograd's backward and of an optimizer's step that are open
  bool observing;                     // its operators are observed; a child of a fork has that, too
  std::uint32_t generation;
};
extern constinit thread_local StepLane step_lane;

inline bool records_step() { return step_lane.recording; }

// Begins and ends a step that is recorded. With the GIL held, in a thread that has recorded something.
// `number`: of the step.
void begin_recorded_step(std::uint64_t number);
// What recording it cost, in ticks, estimated. 0: none was recorded.
std::uint64_t end_recorded_step();

// Operators are observed from now on in this thread, and no more. False: they cannot be.
bool observe_operators();
void stop_observing_operators();

// The part of the step that comes now, and that which came before it.
StepPhase enter_phase(StepPhase phase);

void record_allocated(std::uint64_t address, std::uint64_t bytes);
void record_released(std::uint64_t address, std::uint64_t bytes);

// In a process that was forked inside a step: it is its parent's.
void forget_step();

}  // namespace lotus
