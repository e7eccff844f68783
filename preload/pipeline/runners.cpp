#include "pipeline/runners.hpp"

#include "pipeline/callable.hpp"
#include "pipeline/items.hpp"
#include "pipeline/native_callables.hpp"
#include "python/evaluator.hpp"
#include "python/objects.hpp"

namespace lotus {
namespace {

constexpr int kTries = 8;  // looks at a candidate whose list is empty or None before it is no runner

// A container of at least one callable and nothing else; classes alone (exception types, say) do not count.
bool holds_callables(py::Object* items) {
  bool instance = false;
  bool other = false;
  visit_items(items, [&](py::Object* item) {
    other = py::api.PyCallable_Check(item) == 0;
    instance = instance || !py::is_a(item, py::kType);
    return other;
  });
  return instance && !other;
}

// A ModuleList or Sequential keeps its modules in `_modules`.
py::Object* modules_of(py::Object* object) {
  const Owned modules(plain_attribute(object, names._modules));
  return modules && py::is_a(modules.get(), py::kDict) ? modules.get() : nullptr;
}

// The container behind an attribute of `self`. Borrowed: `self` keeps it.
py::Object* container_of(py::Object* self, py::Object* name) {
  const Owned value(plain_attribute(self, name));
  py::Object* found = value.get();
  if (found == nullptr) {  // modules keep submodules apart from attributes
    py::Object* modules = modules_of(self);
    found = modules != nullptr ? py::api.PyDict_GetItem(modules, name) : nullptr;
    if (found == nullptr) return nullptr;
  }
  if (py::is_a(found, py::kList) || py::is_a(found, py::kTuple)) return found;
  if (name == names._modules && py::is_a(found, py::kDict)) return found;
  return modules_of(found);
}

void decide(CodeInfo& info, py::Object* code, py::Object* self) {
  const Owned attributes(py::api.PyObject_GetAttr(code, names.co_names));
  const py::Ssize size = attributes ? py::api.PyTuple_Size(attributes.get()) : 0;
  bool promising = false;
  for (py::Ssize i = 0; i < size; ++i) {
    py::Object* name = py::api.PyTuple_GetItem(attributes.get(), i);
    py::Object* items = container_of(self, name);
    promising = promising || items != nullptr;
    if (items == nullptr || !holds_callables(items)) continue;
    info.attribute = name;
    info.runner = Verdict::yes;
    return;
  }
  // `for module in self`: nothing is named, the modules are what is looped over.
  const Owned name(py::api.PyObject_GetAttr(code, names.co_name));
  py::Object* modules = size == 0 && name && text_of(name.get()) == "forward" ? modules_of(self) : nullptr;
  if (modules != nullptr && holds_callables(modules)) {
    info.attribute = names._modules;
    info.runner = Verdict::yes;
  } else if (!promising || ++info.tries >= kTries) {
    info.runner = Verdict::no;
  }
}

// Tells a container's objects, their types and what they run from others; 0: it cannot, or there are none.
std::uint64_t fingerprint(py::Object* items) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
  std::uint64_t hash = 0;
  const bool unknown = visit_items(items, [&hash](py::Object* item) {
    const std::uint64_t version = call_version(item);
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(item)) * kFactor;
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(py::type_of(item))) * kFactor;
    hash = (hash ^ version) * kFactor;
    return version == 0;
  });
  return unknown ? 0 : hash;
}

py::Object* callables_for(CodeInfo& info, py::Object* code, py::Object* self) {
  if (info.runner == Verdict::no) return nullptr;
  if (info.runner == Verdict::open) decide(info, code, self);
  if (info.runner != Verdict::yes) return nullptr;
  py::Object* items = container_of(self, info.attribute);
  if (items == nullptr) return nullptr;
  const std::uint64_t print = fingerprint(items);
  if (print != 0 && print == info.callables_print) return items;
  if (!holds_callables(items)) return nullptr;
  hook_native_callables(items);
  visit_items(items, [](py::Object* item) {
    note_called(item);
    return false;
  });
  info.callables_print = print;
  return items;
}

}  // namespace

py::Object* callables_of(Call& call, py::Object* self) {
  if (self != nullptr && !py::is_a(self, py::kType)) return callables_for(*call.info, call.code, self);
  if (call.info->runner == Verdict::open && ++call.info->tries >= kTries) call.info->runner = Verdict::no;
  return nullptr;
}

py::Object* callables_of_forward(Call& call, py::Object* self) {
  if (self == nullptr || !runs(self, call, self)) return nullptr;
  py::Object* forward = py::api._PyType_Lookup(py::type_of(self), names.forward);
  if (forward == nullptr || !py::is_exactly(forward, py::api.PyFunction_Type)) return nullptr;
  py::Object* code = py::api.PyFunction_GetCode(forward);
  CodeInfo* info = code != call.code ? info_of(code) : nullptr;
  return info == nullptr ? nullptr : callables_for(*info, code, self);
}

py::Object* expected_item(const ItemsContext& context) {
  if (!py::is_a(context.items, py::kList)) return nullptr;
  const py::List* list = py::list_of(context.items);
  return context.next_item < list->size ? list->items[context.next_item] : nullptr;
}

py::Object* match_item(ItemsContext& context, const Call& call, py::Object* first) {
  if (!call.info->called) return nullptr;
  // Callables are called in order nearly always: the one behind the last match is tried first.
  py::Object* items = context.items;
  if (py::Object* expected = expected_item(context); expected != nullptr && runs(expected, call, first)) {
    ++context.next_item;
    return expected;
  }
  py::Object* match = nullptr;
  py::Ssize index = 0;
  visit_items(items, [&](py::Object* item) {
    ++index;
    if (runs(item, call, first)) match = item;
    return match != nullptr;
  });
  if (match != nullptr) context.next_item = index;
  return match;
}

}  // namespace lotus
