// Calls of Python functions that are recorded one by one: of the thread that trains, inside of a region,
// where control flow is asked for. What records them is defined in operators/.
//
// Other calls pay nothing for it: while calls are recorded, the thread's floor of the C stack, which every
// call is compared with, lies above everything.
#pragma once

#include <cstdint>
#include <string_view>

#include "python/call.hpp"
#include "python/python_thread.hpp"

namespace lotus {

// PythonThread::stack_floor while calls are recorded.
inline constexpr std::uintptr_t kEveryCall = UINTPTR_MAX - 1;

// Begins and ends to record this thread's calls. With the GIL held, inside a Python call.
void see_every_call();
void see_no_more_calls();
// Below it, recursion is too deep for recorded calls.
extern constinit thread_local std::uintptr_t recorded_floor;
inline bool sees_every_call() { return python_thread.stack_floor == kEveryCall; }

// A call that is recorded, as long as it runs.
struct RecordedCall {
  std::uint64_t serial = 0;  // of what is recorded; 0: the call is not
  std::uint32_t depth = 0;
};

// `unseen`: what it calls passes by the evaluator.
RecordedCall record_call(py::ThreadState* state, const py::Frame* frame, py::Object* code, bool throwing,
                         bool unseen);
void record_return(const RecordedCall& call);

// Some calls CPython runs in their caller's loop, past the evaluator: see keep_visible() and
// keep_calls_visible(). From now on not the one that this frame is of, if it is such a call. With the GIL
// held.
void keep_frame_visible(const py::Frame* frame, py::Object* code);

// Whether there may be calls that are recorded; and the role of a function whose calls are regions; nullptr:
// of this code they are not. `name`: co_name.
extern constinit bool control_flow_is_asked_for;
const Role* region_role(py::Object* code, std::string_view name);

}  // namespace lotus
