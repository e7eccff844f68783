#include "pipeline/libraries.hpp"

#include <string_view>

#include "python/evaluator.hpp"
#include "python/known_calls.hpp"
#include "python/objects.hpp"
#include "system/hash.hpp"

namespace lotus {
namespace {

// Other packages' functions are watched for so many calls: who calls them later is not looked at.
constexpr std::uint8_t kMostLooks = 32;

std::uint32_t owner_of_file(std::string_view file) {
  constexpr std::string_view kInstalled = "-packages/";
  constexpr std::string_view kStandard = "/lib/python3.";
  if (file.find("-packages/torch/") != file.npos) return kPyTorch;
  if (file.empty() || file.front() == '<') return kMadeAtRunTime;
  if (const auto at = file.rfind(kInstalled); at != std::string_view::npos) {
    const auto end = file.find('/', at + kInstalled.size());
    const std::uint32_t hash = hash_text({file.data(), end == std::string_view::npos ? file.size() : end});
    return hash < kFirstPackage ? hash + kFirstPackage : hash;
  }
  return file.find(kStandard) != std::string_view::npos ? kStandardLibrary : kProgram;
}

// The caller calls into another package from now on known to do so.
void note_caller(std::uint32_t around) {
  py::Object* const frame = py::api.PyEval_GetFrame();  // borrowed
  if (frame == nullptr) return;
  const Owned code(py::api.PyFrame_GetCode(frame));
  CodeInfo* const info = code ? info_of(code.get()) : nullptr;
  if (info == nullptr || info->border == Verdict::yes || owner_of(*info, code.get()) != around) return;
  info->border = Verdict::yes;
  known_calls.clear();
}

}  // namespace

std::uint32_t owner_of(CodeInfo& info, py::Object* code) {
  if (info.owner != kUnknownOwner) return info.owner;
  const Owned file(py::api.PyObject_GetAttr(code, names.co_filename));
  if (!file) py::api.PyErr_Clear();
  return info.owner = owner_of_file(file ? text_of(file.get()) : std::string_view{});
}

bool is_at_border(const Call& call, std::uint32_t around) {
  CodeInfo& info = *call.info;
  const std::uint32_t owner = owner_of(info, call.code);
  if (!is_library(around)) {
    if (info.border == Verdict::open) info.border = Verdict::no;
    return false;
  }
  if (owner == kProgram) return info.border == Verdict::open;
  if (owner == around && info.border == Verdict::yes) return true;
  const bool watched = owner >= kFirstPackage && owner != around && around >= kFirstPackage;
  if (watched) note_caller(around);
  if (info.border == Verdict::open && (!watched || ++info.border_looks >= kMostLooks))
    info.border = Verdict::no;
  return false;
}

}  // namespace lotus
