#include "pipeline/holders.hpp"

#include "pipeline/callable.hpp"
#include "pipeline/libraries.hpp"
#include "python/objects.hpp"

namespace lotus {
namespace {

constexpr int kTries = 8;  // looks at code whose attributes are still empty before it is no holder

// A callable that is the object's own. Borrowed: `self` keeps it.
py::Object* held_callable(py::Object* self, py::Object* name) {
  const Owned value(plain_attribute(self, name));
  py::Object* found = value.get();
  if (found == nullptr || found == self || py::is_a(found, py::kType)) return nullptr;
  if (py::is_exactly(found, py::api.PyMethod_Type) && py::api.PyMethod_Self(found) == self) return nullptr;
  return py::api.PyCallable_Check(found) != 0 ? found : nullptr;
}

Verdict find_held(CodeInfo& info, py::Object* code, py::Object* self) {
  const Owned attributes(py::api.PyObject_GetAttr(code, names.co_names));
  if (!attributes || !is_library(owner_of(info, code))) return Verdict::no;
  const py::Ssize size = py::api.PyTuple_Size(attributes.get());
  int found = 0;
  for (py::Ssize i = 0; i < size && found < kMaxHeld; ++i) {
    py::Object* name = py::api.PyTuple_GetItem(attributes.get(), i);
    if (held_callable(self, name) != nullptr) info.held[found++] = name;
  }
  if (found > 0) return Verdict::yes;
  return ++info.holder_tries < kTries ? Verdict::open : Verdict::no;
}

}  // namespace

bool holds_callables(Call& call, py::Object* self) {
  CodeInfo& info = *call.info;
  if (info.holder == Verdict::open) {
    if (self != nullptr && !py::is_a(self, py::kType))
      info.holder = find_held(info, call.code, self);
    else if (++info.holder_tries >= kTries)
      info.holder = Verdict::no;
  }
  if (info.holder != Verdict::yes || self == nullptr || py::is_a(self, py::kType)) return false;
  for (py::Object* name : info.held)
    if (py::Object* callable = name != nullptr ? held_callable(self, name) : nullptr) note_called(callable);
  return true;
}

py::Object* match_held(const Holder& holder, const Call& call, py::Object* first) {
  if (!call.info->called) return nullptr;
  for (py::Object* name : holder.info->held) {
    py::Object* callable = name != nullptr ? held_callable(holder.self, name) : nullptr;
    if (callable != nullptr && runs(callable, call, first))
      return owner_of(*call.info, call.code) == holder.info->owner ? nullptr : callable;
  }
  return nullptr;
}

}  // namespace lotus
