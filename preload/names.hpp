// Names and ids of operations.
#pragma once

#include <lotus/events.hpp>

#include "evaluator.hpp"

namespace lotus {

// Operations are numbered from 1 in each process; 0 is an operation whose name got lost.
inline constexpr std::uint32_t kMaxDefinitions = 1024;

// The definition of what this frame runs. `callable`: the object that was called, nullptr if only the frame
// is known. Sent at its first use.
std::uint32_t definition_of(Call& call, py::Object* callable, OpRole role);

// The same for a callable without Python frame. `key`: what tells it apart for the life of the process.
std::uint32_t definition_of_native(py::Object* callable, const void* key, OpRole role);

// Whether this occurrence of an operation is one whose CPU time is measured: so many of them that the clock
// reads stay below 0.05 % of the operation's own time.
bool measure_this(std::uint32_t definition);

// Tells how long an occurrence took, in ticks.
void learn_duration(std::uint32_t definition, std::uint64_t ticks);

// Definition `code` of the function that is called, made if need be; 0: no room now.
std::uint32_t define_code(const Call& call);
inline std::uint32_t code_definition(const Call& call) {
  const CodeInfo& info = *call.info;
  const bool known = info.code_generation == process.generation && info.code_definition != 0;
  return known ? info.code_definition : define_code(call);
}

// Forgets all definitions: a forked child defines anew.
void forget_definitions();

}  // namespace lotus
