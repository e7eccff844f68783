#include "pipeline/batch_message.hpp"

#include <cstring>
#include <string_view>

#include "pipeline/items.hpp"
#include "python/call.hpp"
#include "python/objects.hpp"

namespace lotus {
namespace {

// Dimensions of a part, and its length along the first one. 0 dimensions: a number, a text, or not known.
struct Extent {
  py::Ssize dimensions = 0, length = 0;
};

// Subclasses of Tensor may have a __torch_function__ in Python, which PyTorch calls even for a tensor's
// shape: not while this object lives. It is what torch._C.DisableTorchFunction() in a `with` does.
class WithoutTorchFunction {
 public:
  WithoutTorchFunction() {
    py::Object* const torch = loaded_module("torch._C");
    const Owned type(torch != nullptr ? py::api.PyObject_GetAttr(torch, names.DisableTorchFunction)
                                      : nullptr);
    guard_ = type ? py::api.PyObject_CallObject(type.get(), nullptr) : nullptr;
    const Owned enter(guard_ != nullptr ? py::api.PyObject_GetAttr(guard_, names.__enter__) : nullptr);
    exit_ = enter ? py::api.PyObject_GetAttr(guard_, names.__exit__) : nullptr;
    const Owned entered(exit_ != nullptr ? py::api.PyObject_CallObject(enter.get(), nullptr) : nullptr);
    holds_ = static_cast<bool>(entered);
    py::api.PyErr_Clear();
  }
  ~WithoutTorchFunction() {
    const Owned guard(guard_), exit(exit_);
    const Owned left(holds_ ? py::api.PyObject_CallObject(exit_, nullptr) : nullptr);
    py::api.PyErr_Clear();
  }
  WithoutTorchFunction(const WithoutTorchFunction&) = delete;
  WithoutTorchFunction& operator=(const WithoutTorchFunction&) = delete;
  bool holds() const { return holds_; }

 private:
  py::Object* guard_ = nullptr;
  py::Object* exit_ = nullptr;
  bool holds_ = false;
};

Extent extent_of_shape(py::Object* array) {
  const Owned shape(py::api._PyObject_GenericGetAttrWithDict(array, names.shape, nullptr, 1));
  py::api.PyErr_Clear();
  if (!shape || !py::is_a(shape.get(), py::kTuple)) return {};
  const py::Ssize dimensions = py::api.PyTuple_Size(shape.get());
  if (dimensions < 1) return {};
  return {dimensions, static_cast<py::Ssize>(integer_of(py::api.PyTuple_GetItem(shape.get(), 0), 0))};
}

// Shapes are asked for only where C code answers.
Extent extent_of(py::Object* part) {
  if (py::is_a(part, py::kList) || py::is_a(part, py::kTuple))
    return {1, static_cast<py::Ssize>(length_of_list(part))};
  py::Object* const shape = py::api._PyType_Lookup(py::type_of(part), names.shape);
  if (shape == nullptr || std::strcmp(py::type_name(py::type_of(shape)), "getset_descriptor") != 0) return {};
  if (py::api._PyType_Lookup(py::type_of(part), names.__torch_function__) == nullptr)
    return extent_of_shape(part);
  const WithoutTorchFunction guard;
  return guard.holds() ? extent_of_shape(part) : Extent{};
}

}  // namespace

bool is_batch(py::Object* message, std::uint64_t& index, py::Object*& data) {
  if (message == nullptr || !py::is_a(message, py::kTuple) || py::api.PyTuple_Size(message) < 2) return false;
  py::Object* const first = py::api.PyTuple_GetItem(message, 0);
  data = py::api.PyTuple_GetItem(message, 1);
  if (!is_batch(first, data)) return false;
  const std::int64_t value = integer_of(first, 0);
  index = value < 0 ? 0 : static_cast<std::uint64_t>(value);
  return true;
}

py::Object* first_part_of(py::Object* data) { return first_of(data); }

bool is_batch(py::Object* index, py::Object* data) {
  if (index == nullptr || !py::is_a(index, py::kLong)) return false;
  const auto ends = [](py::Object* object) {
    return object != nullptr &&
           std::strcmp(py::type_name(py::type_of(object)), "_IterableDatasetStopIteration") == 0;
  };
  return !ends(data) && !ends(first_part_of(data));
}

std::uint64_t length_of_list(py::Object* object) {
  if (object == nullptr) return 0;
  if (py::is_a(object, py::kList)) return static_cast<std::uint64_t>(py::list_of(object)->size);
  if (py::is_a(object, py::kTuple)) return static_cast<std::uint64_t>(py::api.PyTuple_Size(object));
  return 0;
}

namespace {

// What is among the parts of a message.
struct Parts {
  bool tensor = false, array = false;  // a tensor; an array of two dimensions or more
  bool wide = false;                   // one of either that has two dimensions or more
  bool made_by_model = false;          // a tensor with a gradient
};

// NumPy's array, or one of a subclass: loaders have theirs, in shared memory.
bool is_array(const py::Object* object) {
  const py::Type* type = py::type_of(object);
  for (int depth = 0; type != nullptr && depth < 4; ++depth, type = py::base_of(type))
    if (std::string_view(py::type_name(type)) == "numpy.ndarray") return true;
  return false;
}

bool has_gradient(py::Object* tensor) {
  const Owned value(py::api._PyObject_GenericGetAttrWithDict(tensor, names.requires_grad, nullptr, 1));
  py::api.PyErr_Clear();
  return value && py::api.PyObject_IsTrue(value.get()) == 1;
}

Parts parts_of(py::Object* message, bool look_closely) {
  constexpr int kMostDepth = 3, kMostParts = 32;
  struct Search {
    bool look_closely;
    Parts found{};
    int count = 0;
    // True: enough is known.
    bool operator()(py::Object* object, int depth) {
      if (object == nullptr || ++count > kMostParts) return false;
      if (py::is_a(object, py::kDict) || py::is_a(object, py::kList) || py::is_a(object, py::kTuple))
        return depth < kMostDepth &&
               visit_items(object, [&](py::Object* part) { return (*this)(part, depth + 1); });
      const std::string_view type = py::type_name(py::type_of(object));
      if (type == "Tensor") {
        found.tensor = true;
        if (!look_closely) return true;
        found.wide = found.wide || extent_of(object).dimensions > 1;
        found.made_by_model = has_gradient(object);
        return found.made_by_model;
      }
      if (!is_array(object) || extent_of(object).dimensions < 2) return false;
      found.array = found.wide = true;
      return !look_closely;
    }
  };
  Search search{look_closely};
  search(message, 0);
  return search.found;
}

}  // namespace

bool holds_arrays(py::Object* result) {
  const Parts parts = parts_of(result, false);
  return parts.tensor || parts.array;
}

bool holds_data(py::Object* result) {
  const Parts parts = parts_of(result, true);
  return parts.wide && !parts.made_by_model;
}

bool is_made_by_model(py::Object* result) { return parts_of(result, true).made_by_model; }

std::uint64_t batch_length(py::Object* batch) {
  if (!py::is_a(batch, py::kDict) && !py::is_a(batch, py::kList) && !py::is_a(batch, py::kTuple)) return 0;
  Extent first;
  bool differ = false;
  const bool unlike = visit_items(batch, [&](py::Object* part) {
    if (py::is_none(part)) return false;
    const Extent extent = extent_of(part);
    if (first.dimensions == 0) first = extent;
    differ = differ || extent.dimensions != first.dimensions;
    return extent.dimensions == 0 || extent.length != first.length;
  });
  return unlike || !differ || first.length < 1 ? 0 : static_cast<std::uint64_t>(first.length);
}

}  // namespace lotus
