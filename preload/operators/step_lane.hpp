// The operator lane: what PyTorch's operators do in a step of training, or in a region, that is recorded. Of
// each operator that no other one calls: its time, the line of the program that called it, the storages that
// it uses; and each block of memory that PyTorch's CPU allocator gives out and takes back meanwhile.
//
// It is of one thread, the one that trains; operators of other threads are not its.
#pragma once

#include <cstdint>
#include <lotus/events.hpp>

#include "operators/lane_records.hpp"

namespace lotus {

// Begins and ends a step that is recorded. With the GIL held, in a thread that has recorded something.
// `number`: of the step.
void begin_recorded_step(std::uint64_t number);
// What recording it cost, in ticks, estimated. 0: none was recorded.
std::uint64_t end_recorded_step();

// The same of a region: a call of a function, at `place`. `inside`: what is in it is recorded, too. False: it
// cannot be.
bool begin_recorded_region(std::uint64_t number, std::uint32_t place, bool inside);
std::uint64_t end_recorded_region();

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
