#include "answers/memory/tensor_form.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace lotus::analyzer::memory {
namespace {

struct ElementType {
  const char* name;
  std::uint64_t bytes;  // 0: not of whole bytes
};

// c10::ScalarType, in its order, by the names that Python gives them.
constexpr ElementType kTypes[] = {{"uint8", 1},           {"int8", 1},
                                  {"int16", 2},           {"int32", 4},
                                  {"int64", 8},           {"float16", 2},
                                  {"float32", 4},         {"float64", 8},
                                  {"complex32", 4},       {"complex64", 8},
                                  {"complex128", 16},     {"bool", 1},
                                  {"qint8", 1},           {"quint8", 1},
                                  {"qint32", 4},          {"bfloat16", 2},
                                  {"quint4x2", 0},        {"quint2x4", 0},
                                  {"bits1x8", 0},         {"bits2x4", 0},
                                  {"bits4x2", 0},         {"bits8", 0},
                                  {"bits16", 0},          {"float8_e5m2", 1},
                                  {"float8_e4m3fn", 1},   {"float8_e5m2fnuz", 1},
                                  {"float8_e4m3fnuz", 1}, {"uint16", 2},
                                  {"uint32", 4},          {"uint64", 8}};

}  // namespace

Form form_of(const Process& process, std::uint64_t id) {
  const auto found = process.tensor_forms.find(id);
  if (found == process.tensor_forms.end() || found->second.dtype >= std::size(kTypes)) return {};
  const ElementType& type = kTypes[found->second.dtype];
  const std::string& sizes = found->second.sizes;
  Form form{fmt::format("{}[", type.name), type.bytes};
  const char *at = sizes.data(), *const end = at + sizes.size();
  while (at < end) {
    std::uint64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || (next < end && *next != 'x')) return {};
    form.text += fmt::format("{}{}", at == sizes.data() ? "" : ", ", size);
    if (__builtin_mul_overflow(form.bytes, size, &form.bytes)) return {};
    at = next + 1;
  }
  form.text += "]";
  return form;
}

}  // namespace lotus::analyzer::memory
