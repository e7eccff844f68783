#include "pipeline/dataset_calls.hpp"

#include "pipeline/items.hpp"
#include "python/code_names.hpp"
#include "python/evaluator.hpp"
#include "python/frame_handlers.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "record/setting.hpp"

namespace lotus {
namespace {

// Calls that take less are not recorded: a cheap property may be asked for thousands of times.
constexpr std::uint64_t kLeastPerSecond = 10'000;  // 100 µs
constexpr int kMostFunctions = 256;                // of one class
constexpr std::size_t kLongestName = 200;

// The types of datasets, newest first; only compared, they may be gone.
constexpr int kMostTypes = 16;
constinit const py::Type* watched[kMostTypes] = {};

constinit thread_local bool calling = false;

bool is_watched(const py::Type* type) {
  for (const py::Type* other : watched)
    if (other == type) return true;
  return false;
}

// Methods that PyTorch's own classes have are called by everybody, and do little.
bool is_of_torch(py::Object* code) {
  const Owned file(plain_attribute(code, names.co_filename));
  const std::string_view path = file ? text_of(file.get()) : std::string_view{};
  return path.find("-packages/torch/") != path.npos || path.ends_with("torch/utils/data/dataset.py");
}

// The function that a class's attribute runs; nullptr: none of Python's.
py::Object* function_of(py::Object* attribute) {
  if (py::is_exactly(attribute, py::api.PyFunction_Type)) return attribute;
  const std::string_view type = py::type_name(py::type_of(attribute));
  if (type != "property" && type != "cached_property") return nullptr;
  const Owned getter(plain_attribute(attribute, type == "property" ? names.fget : names.func));
  return getter && py::is_exactly(getter.get(), py::api.PyFunction_Type) ? getter.get() : nullptr;
}

void watch_class(const py::Type* type) {
  py::Object* const attributes = py::dictionary_of(type);
  if (attributes == nullptr) return;
  int looked_at = 0;
  visit_items(attributes, [&looked_at](py::Object* value) {
    py::Object* const function = function_of(value);
    py::Object* const code = function != nullptr ? py::api.PyFunction_GetCode(function) : nullptr;
    CodeInfo* const info = code != nullptr && !is_of_torch(code) ? info_of(code) : nullptr;
    if (info != nullptr) info->of_dataset = true;
    return ++looked_at == kMostFunctions;
  });
}

void watch_type_of(py::Object* dataset) {
  const py::Type* const type = py::type_of(dataset);
  if (is_watched(type)) return;
  for (int i = kMostTypes - 1; i > 0; --i) watched[i] = watched[i - 1];
  watched[0] = type;
  const Owned order(
      py::api.PyObject_GetAttr(reinterpret_cast<py::Object*>(py::type_of(dataset)), names.__mro__));
  const py::Ssize size = order && py::is_a(order.get(), py::kTuple) ? py::api.PyTuple_Size(order.get()) : 0;
  for (py::Ssize i = 0; i < size; ++i)
    watch_class(reinterpret_cast<const py::Type*>(py::api.PyTuple_GetItem(order.get(), i)));
  py::api.PyErr_Clear();
}

bool is_outside_of_spans(const Thread* thread) {
  return thread != nullptr && this_thread.generation == process.generation && thread->depth == 0;
}

}  // namespace

void watch_dataset(py::Object* loader) {
  const Owned dataset(plain_attribute(loader, names.dataset));
  if (!dataset) return;
  watch_type_of(dataset.get());
  const Owned wrapped(plain_attribute(dataset.get(), names.dataset));
  if (wrapped) watch_type_of(wrapped.get());
  const Owned parts(plain_attribute(dataset.get(), names.datasets));
  if (!parts || !(py::is_a(parts.get(), py::kList) || py::is_a(parts.get(), py::kTuple))) return;
  visit_items(parts.get(), [](py::Object* part) {
    watch_type_of(part);
    return false;
  });
}

void forget_dataset_calls() { calling = false; }

// Only the outermost call counts, and only where no span is open: not while a batch is made, waited for or
// drawn.
py::Object* outside_of_pipeline(Call& call) {
  if (calling || !is_outside_of_spans(this_thread.recorder)) return call.run();
  const py::Object* const self = first_argument(call);
  if (self == nullptr || !is_watched(py::type_of(self))) return call.run();
  py::api.Py_IncRef(call.code);
  const Owned code(call.code);
  const std::uint32_t generation = process.generation;
  const std::uint64_t begin = ticks_now();
  py::Object* result = nullptr;
  {
    const Setting now(calling, true);
    result = call.run();
  }
  const std::uint64_t took = ticks_now() - begin;
  const bool tells = took >= ticks_per_second() / kLeastPerSecond && generation == process.generation;
  // With an exception pending nothing may be looked up.
  if (tells && result != nullptr && is_outside_of_spans(this_thread.recorder)) {
    const CodeText text(call.code);
    point<Kind::dataset_call>(took, text.name().substr(0, kLongestName));
  }
  return result;
}

}  // namespace lotus
