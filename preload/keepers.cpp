#include "keepers.hpp"

#include <string_view>

#include "classify.hpp"
#include "pipeline.hpp"

namespace lotus {
namespace {

constexpr int kTries = 8;  // looks at code whose attributes are still empty before it is no keeper

// The directory of the installed package that a file belongs to, one for all of the standard library; empty:
// it is no library's.
std::string_view library_of(std::string_view file) {
  constexpr std::string_view kInstalled = "-packages/";
  constexpr std::string_view kStandard = "/lib/python3.";
  if (const auto at = file.rfind(kInstalled); at != std::string_view::npos) {
    const auto end = file.find('/', at + kInstalled.size());
    return {file.data(), end == std::string_view::npos ? file.size() : end};
  }
  const auto at = file.find(kStandard);
  return at == std::string_view::npos ? std::string_view{}
                                      : std::string_view{file.data(), at + kStandard.size()};
}

// A callable that is the object's own. Borrowed: `self` keeps it.
py::Object* kept_callable(py::Object* self, py::Object* name) {
  const Owned value(plain_attribute(self, name));
  py::Object* found = value.get();
  if (found == nullptr || found == self || py::is_a(found, py::kType)) return nullptr;
  if (py::is_exactly(found, py::api.PyMethod_Type) && py::api.PyMethod_Self(found) == self) return nullptr;
  return py::api.PyCallable_Check(found) != 0 ? found : nullptr;
}

Verdict find_kept(CodeInfo& info, py::Object* code, py::Object* self) {
  const Owned file(py::api.PyObject_GetAttr(code, names.co_filename));
  const Owned attributes(py::api.PyObject_GetAttr(code, names.co_names));
  if (!file || !attributes || library_of(text_of(file.get())).empty()) return Verdict::no;
  const py::Ssize size = py::api.PyTuple_Size(attributes.get());
  int found = 0;
  for (py::Ssize i = 0; i < size && found < kMaxKept; ++i) {
    py::Object* name = py::api.PyTuple_GetItem(attributes.get(), i);
    if (kept_callable(self, name) != nullptr) info.kept[found++] = name;
  }
  if (found > 0) return Verdict::yes;
  return ++info.keeper_tries < kTries ? Verdict::open : Verdict::no;
}

bool of_the_same_library(py::Object* code, py::Object* other) {
  const Owned file(py::api.PyObject_GetAttr(code, names.co_filename));
  const Owned other_file(py::api.PyObject_GetAttr(other, names.co_filename));
  return library_of(text_of(file.get())) == library_of(text_of(other_file.get()));
}

}  // namespace

bool keeps_callables(Call& call, py::Object* self) {
  CodeInfo& info = *call.info;
  if (self == nullptr || py::is_a(self, py::kType)) return false;
  if (info.keeper == Verdict::open) info.keeper = find_kept(info, call.code, self);
  return info.keeper == Verdict::yes;
}

py::Object* match_kept(const Keeper& keeper, const Call& call, py::Object* first) {
  for (py::Object* name : keeper.info->kept) {
    py::Object* callable = name != nullptr ? kept_callable(keeper.self, name) : nullptr;
    if (callable != nullptr && runs(callable, call, first))
      return of_the_same_library(call.code, keeper.code) ? nullptr : callable;
  }
  return nullptr;
}

}  // namespace lotus
