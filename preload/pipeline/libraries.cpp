#include "pipeline/libraries.hpp"

#include <string_view>

#include "python/code_names.hpp"
#include "python/evaluator.hpp"
#include "python/known_calls.hpp"
#include "python/objects.hpp"
#include "system/hash.hpp"

namespace lotus {
namespace {

constexpr std::string_view kInstalled = "-packages/";

}  // namespace

std::uint32_t owner_of_file(std::string_view file) {
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

py::Object* calling_code() {
  py::Object* const frame = py::api.PyEval_GetFrame();  // borrowed
  return frame != nullptr ? py::api.PyFrame_GetCode(frame) : nullptr;
}

bool is_inside_of_module() {
  constexpr int kMostFrames = 200;
  py::Object* frame = py::api.PyEval_GetFrame();  // borrowed
  if (frame != nullptr) py::api.Py_IncRef(frame);
  bool inside = false;
  for (int depth = 0; frame != nullptr && !inside && depth < kMostFrames; ++depth) {
    const Owned held(frame), code(py::api.PyFrame_GetCode(frame));
    const CodeText text(code.get());
    // _wrapped_call_impl(), where there is one, only calls it.
    inside = text.name().ends_with("_call_impl") && text.file().ends_with("/torch/nn/modules/module.py");
    frame = py::api.PyFrame_GetBack(frame);
  }
  if (frame != nullptr) py::api.Py_DecRef(frame);
  return inside;
}

std::string_view name_of_library(std::string_view file, char* buffer, std::size_t size) {
  constexpr int kMostParts = 2;
  const auto at = file.rfind(kInstalled);
  if (at == std::string_view::npos) return {};
  file.remove_prefix(at + kInstalled.size());
  std::size_t length = 0;
  for (int part = 0; part < kMostParts; ++part) {
    const auto end = file.find('/');
    // A module of its own has no directory; what begins with _ is no name that users know.
    const std::string_view name = file.substr(0, end == std::string_view::npos ? file.find('.') : end);
    if ((part > 0 && (end == std::string_view::npos || name.front() == '_')) ||
        length + name.size() + 1 > size)
      break;
    if (part > 0) buffer[length++] = '.';
    length += name.copy(buffer + length, name.size());
    if (end == std::string_view::npos) break;
    file.remove_prefix(end + 1);
  }
  return {buffer, length};
}

namespace {

// Other packages' functions are watched for so many calls: who calls them later is not looked at.
constexpr std::uint8_t kMostLooks = 32;

// The caller calls into another package from now on known to do so.
void note_caller(std::uint32_t around) {
  const Owned code(calling_code());
  CodeInfo* const info = code ? info_of(code.get()) : nullptr;
  if (info == nullptr || info->border == Verdict::yes || owner_of(*info, code.get()) != around) return;
  info->border = Verdict::yes;
  known_calls.clear();
}

}  // namespace

std::uint32_t owner_of(py::Object* code) {
  const Owned file(py::api.PyObject_GetAttr(code, names.co_filename));
  if (!file) py::api.PyErr_Clear();
  return owner_of_file(file ? text_of(file.get()) : std::string_view{});
}

std::uint32_t owner_of(CodeInfo& info, py::Object* code) {
  return info.owner != kUnknownOwner ? info.owner : info.owner = owner_of(code);
}

bool is_collate(CodeInfo& info, py::Object* code) {
  if (info.border == Verdict::open) {
    const Owned file(py::api.PyObject_GetAttr(code, names.co_filename));
    const bool is = file && text_of(file.get()).ends_with("torch/utils/data/_utils/collate.py");
    info.border = is ? Verdict::yes : Verdict::no;
  }
  return info.border == Verdict::yes;
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
