#include "pipeline/batch_message.hpp"

#include <cstring>

#include "python/objects.hpp"

namespace lotus {

bool is_batch(py::Object* message, std::uint64_t& index, py::Object*& data) {
  if (message == nullptr || !py::is_a(message, py::kTuple) || py::api.PyTuple_Size(message) < 2) return false;
  py::Object* const first = py::api.PyTuple_GetItem(message, 0);
  data = py::api.PyTuple_GetItem(message, 1);
  if (!is_batch(first, data)) return false;
  const std::int64_t value = integer_of(first, 0);
  index = value < 0 ? 0 : static_cast<std::uint64_t>(value);
  return true;
}

bool is_batch(py::Object* index, py::Object* data) {
  if (index == nullptr || !py::is_a(index, py::kLong)) return false;
  return data == nullptr ||
         std::strcmp(py::type_name(py::type_of(data)), "_IterableDatasetStopIteration") != 0;
}

}  // namespace lotus
