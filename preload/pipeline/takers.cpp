#include "pipeline/takers.hpp"

#include <string_view>

#include "pipeline/libraries.hpp"
#include "python/call.hpp"
#include "python/code_names.hpp"
#include "python/evaluator.hpp"
#include "python/frame_handlers.hpp"
#include "python/objects.hpp"
#include "system/thread_id.hpp"

namespace lotus {
namespace {

// Of torch.nn.Module; held for ever. Once it is called, it need not be watched any longer.
constinit py::Object* module_call = nullptr;
constinit bool watching = false;
constinit std::uint64_t calls = 0;

// A function that gives on what it takes, as progress bars are.
bool is_iterators(py::Object* code) {
  constexpr std::int64_t kGenerator = 0x20;  // CO_GENERATOR
  const Owned flags(py::api.PyObject_GetAttr(code, names.co_flags));
  const Owned name(py::api.PyObject_GetAttr(code, names.co_name));
  const std::string_view text = name ? text_of(name.get()) : std::string_view{};
  return (flags && (integer_of(flags.get(), 0) & kGenerator) != 0) || text == "__next__" || text == "next" ||
         text == "__iter__";
}

}  // namespace

bool is_taken_by_package() {
  constexpr int kMostFrames = 100;
  py::Object* frame = py::api.PyEval_GetFrame();  // borrowed
  if (frame != nullptr) py::api.Py_IncRef(frame);
  bool is_known = false, is_package = false;
  for (int depth = 0; frame != nullptr && !is_known && depth < kMostFrames; ++depth) {
    const Owned held(frame), code(py::api.PyFrame_GetCode(frame));
    const std::uint32_t owner = owner_of(code.get());
    is_known = owner != kPyTorch && owner != kStandardLibrary && !is_iterators(code.get());
    is_package = is_known && owner >= kFirstPackage;
    frame = py::api.PyFrame_GetBack(frame);
  }
  if (frame != nullptr) py::api.Py_DecRef(frame);
  return is_package;
}

std::uint64_t models_called() { return calls; }

void watch_next_call_of_model() {
  if (module_call == nullptr || watching) return;
  watching = true;
  look_at_calls(module_call, 1);
}

bool is_call_of_model(std::string_view file, std::string_view function) {
  return function == "_call_impl" && file.ends_with("/torch/nn/modules/module.py");
}

void note_call_of_model(py::Object* code) {
  if (module_call == code) return;
  if (module_call != nullptr) py::api.Py_DecRef(module_call);
  py::api.Py_IncRef(code);
  module_call = code;
  watching = true;
}

bool is_watched_model(const py::Object* code) { return code == module_call; }

py::Object* of_model(Call& call) {
  if (is_main_thread()) {
    ++calls;
    watching = false;
    look_at_calls(call.code, 0);
  }
  return call.run();
}

}  // namespace lotus
