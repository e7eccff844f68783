#include "python/recorded_calls.hpp"

#include "python/objects.hpp"
#include "system/thread_stack.hpp"

namespace lotus {
namespace {

// The floor that holds otherwise.
constinit thread_local std::uintptr_t usual_floor = UINTPTR_MAX;

// From 3.11 on, but for 3.12 and 3.13, which count calls in C, a recursion may use a quarter of the stack: of
// one that goes deeper, calls are missing.
std::uintptr_t floor_below(std::uintptr_t address) {
  const bool counted = py::layout->minor == 12 || py::layout->minor == 13;
  if (py::layout->hooked_stack == 0 || counted) return usual_floor;
  const std::uintptr_t own = stack_below(address) / 4;
  const std::uintptr_t floor = own != 0 && address > own ? address - own : usual_floor;
  return floor < usual_floor ? floor : usual_floor;
}

}  // namespace

constinit thread_local std::uintptr_t recorded_floor = 0;

constinit bool control_flow_is_asked_for = false;

void keep_frame_visible(const py::Frame* frame, py::Object* code) {
  if (py::layout->minor < 11) return;
  const Owned name(py::api.PyObject_GetAttr(code, names.co_name));
  if (!name) return py::api.PyErr_Clear();
  if (text_of(name.get()) == "__getitem__") return py::keep_visible(py::function_of(frame));
  if (text_of(name.get()) != "__init__") return;
  const Call call{nullptr, const_cast<py::Frame*>(frame), 0, code, nullptr};
  if (py::Object* const self = local_variable(call, 0); self != nullptr)
    py::keep_calls_visible(py::type_of(self));
}

void see_every_call() {
  if (sees_every_call()) return;
  usual_floor = python_thread.stack_floor;
  recorded_floor = floor_below(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  python_thread.stack_floor = kEveryCall;
}

void see_no_more_calls() {
  if (sees_every_call()) python_thread.stack_floor = usual_floor;
}

}  // namespace lotus
