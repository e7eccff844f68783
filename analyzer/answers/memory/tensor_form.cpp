#include "answers/memory/tensor_form.hpp"

#include <iterator>

namespace lotus::analyzer::memory {
namespace {

// c10::ScalarType, in its order, by the names that Python gives them.
constexpr const char* kTypes[] = {"uint8",   "int8",    "int16",     "int32",     "int64",      "float16",
                                  "float32", "float64", "complex32", "complex64", "complex128", "bool",
                                  "qint8",   "quint8",  "qint32",    "bfloat16"};

}  // namespace

std::string form_text(const Process& process, std::uint64_t form) {
  const auto found = process.tensor_forms.find(form);
  if (found == process.tensor_forms.end()) return {};
  const std::string type =
      found->second.dtype < std::size(kTypes) ? kTypes[found->second.dtype] : "other type";
  return found->second.sizes.empty() ? type + " scalar" : type + " " + found->second.sizes;
}

}  // namespace lotus::analyzer::memory
