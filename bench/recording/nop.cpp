// The do-nothing twin of liblotus.so: attaches at the same time in the same way, and evaluates every frame
// without inspecting it. The difference between both is the cost of recording.
#include <dlfcn.h>

#include <cstring>

#include "python/cpython.hpp"

namespace {

using lotus::py::Frame;
using lotus::py::Object;
using lotus::py::ThreadState;

lotus::py::Evaluator evaluate_next = nullptr;
bool attached = false;

Object* evaluate(ThreadState* state, Frame* frame, int throwing) {
  return evaluate_next(state, frame, throwing);
}

int audit(const char* event, Object* arguments, void*) {
  if (attached || std::strcmp(event, "import") != 0 || lotus::py::resolve() != nullptr) return 0;
  Object* name = lotus::py::api.PyTuple_GetItem(arguments, 0);
  const char* text = lotus::py::api.PyUnicode_AsUTF8AndSize(name, nullptr);
  if (text == nullptr || std::strcmp(text, "torch") != 0) return 0;
  attached = true;
  auto* interpreter = lotus::py::api.PyInterpreterState_Get();
  evaluate_next = lotus::py::api._PyInterpreterState_GetEvalFrameFunc(interpreter);
  lotus::py::api._PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
  return 0;
}

[[gnu::constructor]] void enter_process() {
  using Hook = int (*)(const char*, Object*, void*);
  using AddHook = int (*)(Hook, void*);
  const auto add = reinterpret_cast<AddHook>(dlsym(RTLD_DEFAULT, "PySys_AddAuditHook"));
  if (add != nullptr) add(audit, nullptr);
}

}  // namespace
