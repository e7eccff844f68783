// The Python calls of a thread inside the pipeline, for stack snapshots.
#pragma once

#include <cstdint>

#include "python/cpython.hpp"
#include "python/python_thread.hpp"
#include "record/process.hpp"
#include "system/hot.hpp"

namespace lotus {

// Stack snapshots are taken in this process: what is called in a pipeline is to be named for them.
LOTUS_DIRECT extern bool snapshots_on;

// A call inside the pipeline: on the C stack, so that its address tells which native
// frames belong to it.
struct PythonCall {
  const PythonCall* up;
  const PythonCall* self;  // its own address: whether this still is one
  std::uint32_t code;      // definition `code`, 0: there was no room for one
};

// Snapshots that are taken while `run` runs name this Python function.
template <class Run>
[[gnu::always_inline]] inline py::Object* run_named(std::uint32_t code, Run&& run) {
  PythonCall self{python_thread.calls, &self, code};
  const std::uint32_t generation = process.generation;
  __atomic_signal_fence(__ATOMIC_RELEASE);
  python_thread.calls = &self;
  py::Object* result = run();
  if (generation == process.generation) python_thread.calls = self.up;
  return result;
}

}  // namespace lotus
