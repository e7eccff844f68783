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

// The code of what iterators of this type are called by; nullptr: it is not Python's. Borrowed.
const py::Object* code_of_next(const py::Object* iterator) {
  py::Object* const function = py::api._PyType_Lookup(py::type_of(iterator), names.__next__);  // borrowed
  return function != nullptr && py::is_exactly(function, py::api.PyFunction_Type)
             ? py::api.PyFunction_GetCode(function)
             : nullptr;
}

// Goes from frame to frame, outwards.
class Around {
 public:
  Around() : frame_(py::api.PyEval_GetFrame()) {  // borrowed
    if (frame_ != nullptr) py::api.Py_IncRef(frame_);
  }
  ~Around() { leave(nullptr); }
  Around(const Around&) = delete;
  Around& operator=(const Around&) = delete;

  py::Object* code() const { return frame_ != nullptr ? py::api.PyFrame_GetCode(frame_) : nullptr; }  // new
  void go_on() {
    if (frame_ != nullptr) leave(py::api.PyFrame_GetBack(frame_));
  }

 private:
  void leave(py::Object* next) {
    if (frame_ != nullptr) py::api.Py_DecRef(frame_);
    frame_ = next;
  }
  py::Object* frame_;
};

// How many frames there are up to the last of this code, which is among the first; 0: it is not. Decorators
// of one kind share their code.
int frames_up_to(const py::Object* code) {
  constexpr int kMostAround = 8;
  Around around;
  int found = 0;
  for (int depth = 1; depth <= kMostAround; ++depth, around.go_on()) {
    const Owned here(around.code());
    if (here.get() == code) found = depth;
  }
  return found;
}

}  // namespace

bool is_taken_by_package(const py::Object* iterator) {
  constexpr int kMostFrames = 100;
  const py::Object* const outermost = iterator != nullptr ? code_of_next(iterator) : nullptr;
  const int first = outermost != nullptr ? frames_up_to(outermost) : 0;
  Around around;
  for (int depth = 0; depth < kMostFrames; ++depth, around.go_on()) {
    const Owned code(around.code());
    if (!code) return false;
    const std::uint32_t owner = owner_of(code.get());
    if (depth >= first && owner != kPyTorch && owner != kStandardLibrary && !is_iterators(code.get()))
      return owner >= kFirstPackage;
  }
  return false;
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
