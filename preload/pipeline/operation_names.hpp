// Names and ids of operations.
#pragma once

#include <lotus/events.hpp>

#include "python/call.hpp"

namespace lotus {

// Operations are numbered from 1 in each process. Those for which there is no number below kMaxDefinitions
// share one for each role: kMaxDefinitions + role. 0: of a thread that does not record.
inline constexpr std::uint32_t kMaxDefinitions = 1024;

// The definition of what this frame runs. `callable`: the object that was called, nullptr if only the frame
// is known. Sent at its first use.
std::uint32_t definition_of(Call& call, py::Object* callable, OpRole role);

// The same for a callable without Python frame. `key`: what tells it apart for the life of the process.
std::uint32_t definition_of_native(py::Object* callable, const void* key, OpRole role);

// Whether its definition has been sent; else definition_of() tries again.
bool is_defined(std::uint32_t definition);

// Whether this occurrence of an operation is one whose CPU time is measured: so many of them that the clock
// reads stay below 0.05 % of the operation's own time.
bool measure_this(std::uint32_t definition);
// Whether this process has not seen the operation end yet.
bool is_first_call(std::uint32_t definition);

// Tells how long an occurrence took, in ticks.
void learn_duration(std::uint32_t definition, std::uint64_t ticks);

// Forgets all definitions: a forked child defines anew.
void forget_operation_names();

}  // namespace lotus
