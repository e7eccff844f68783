#include "pipeline/runners.hpp"

#include <string_view>

#include "pipeline/callable.hpp"
#include "pipeline/items.hpp"
#include "pipeline/native_callables.hpp"
#include "python/evaluator.hpp"
#include "python/free_threading.hpp"
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

bool is_sequence(py::Object* object) { return py::is_a(object, py::kList) || py::is_a(object, py::kTuple); }

// What a runner does with the callables that are its own: code that names one of these calls them in turn.
constexpr std::string_view kGoesThroughDict[] = {"items", "values"};
constexpr std::string_view kGoesThroughModules[] = {"children", "named_children"};

template <std::size_t N>
bool names_one_of(py::Object* attributes, const std::string_view (&list)[N]) {
  const py::Ssize size = py::api.PyTuple_Size(attributes);
  for (py::Ssize i = 0; i < size; ++i)
    for (const std::string_view name : list)
      if (text_of(py::api.PyTuple_GetItem(attributes, i)) == name) return true;
  return false;
}

// The attribute in which an object of a class of Python's keeps the list of callables that it gives one after
// the other: what the class's __iter__ reads, or the
// __getitem__ that it calls. nullptr: there is none. Owned by that method.
py::Object* inner_attribute(py::Object* object) {
  if (py::api._PyType_Lookup(py::type_of(object), names.__iter__) == nullptr) return nullptr;
  for (py::Object* method : {names.__iter__, names.__getitem__}) {
    py::Object* const function = py::api._PyType_Lookup(py::type_of(object), method);
    if (function == nullptr || !py::is_exactly(function, py::api.PyFunction_Type)) continue;
    const Owned read(py::api.PyObject_GetAttr(py::api.PyFunction_GetCode(function), names.co_names));
    const py::Ssize size = read ? py::api.PyTuple_Size(read.get()) : 0;
    for (py::Ssize i = 0; i < size; ++i) {
      py::Object* const name = py::api.PyTuple_GetItem(read.get(), i);
      const Owned value(plain_attribute(object, name));
      if (value && is_sequence(value.get()) && holds_callables(value.get())) return name;
    }
  }
  return nullptr;
}

// New reference; nullptr if absent.
py::Object* attribute_of(py::Object* self, py::Object* name) {
  if (py::Object* const value = plain_attribute(self, name)) return value;
  py::Object* const modules = modules_of(self);  // modules keep submodules apart from attributes
  py::Object* const module = modules != nullptr ? py::api.PyDict_GetItem(modules, name) : nullptr;
  if (module != nullptr) py::api.Py_IncRef(module);
  return module;
}

// The container behind the attribute of `self` that decide() found. Borrowed: `self` keeps it.
py::Object* container_of(const CodeInfo& info, py::Object* self) {
  const Owned value(attribute_of(self, info.attribute));
  py::Object* const found = value.get();
  if (found == nullptr) return nullptr;
  if (info.inner_attribute != nullptr && !is_sequence(found)) {
    const Owned inner(plain_attribute(found, info.inner_attribute));
    return inner && is_sequence(inner.get()) ? inner.get() : nullptr;
  }
  return is_sequence(found) || py::is_a(found, py::kDict) ? found : modules_of(found);
}

enum class Found : std::uint8_t { nothing, empty, callables };

// Whether `self` keeps in an attribute of this name what code that uses `attributes` calls in turn.
Found look_at(CodeInfo& info, py::Object* self, py::Object* name, py::Object* attributes) {
  const Owned held(attribute_of(self, name));
  py::Object* const value = held.get();
  if (value == nullptr || py::is_none(value)) return Found::nothing;
  if (py::is_a(value, py::kDict) && name != names._modules && !names_one_of(attributes, kGoesThroughDict))
    return Found::nothing;
  info.attribute = name;
  info.inner_attribute = nullptr;
  py::Object* items = container_of(info, self);
  if (items == nullptr) {
    py::Object* const inner = py::api.PyCallable_Check(value) == 0 ? inner_attribute(value) : nullptr;
    if (inner == nullptr) return Found::nothing;
    py::api.Py_IncRef(inner);  // the class may go before the code does; never given back
    info.inner_attribute = inner;
    items = container_of(info, self);
  }
  return items != nullptr && holds_callables(items) ? Found::callables : Found::empty;
}

// `for module in self`, or over its children: nothing of `self` is named, the modules are what is looped
// over.
bool goes_through_modules(py::Object* code, py::Object* self, py::Object* attributes) {
  const Owned name(py::api.PyObject_GetAttr(code, names.co_name));
  const bool unnamed = py::api.PyTuple_Size(attributes) == 0 && name && text_of(name.get()) == "forward";
  if (!unnamed && !names_one_of(attributes, kGoesThroughModules)) return false;
  py::Object* const modules = modules_of(self);
  return modules != nullptr && holds_callables(modules);
}

void decide(CodeInfo& info, py::Object* code, py::Object* self) {
  const Owned attributes(py::api.PyObject_GetAttr(code, names.co_names));
  const py::Ssize size = attributes ? py::api.PyTuple_Size(attributes.get()) : 0;
  bool promising = false;
  for (py::Ssize i = 0; i < size; ++i) {
    const Found found = look_at(info, self, py::api.PyTuple_GetItem(attributes.get(), i), attributes.get());
    promising = promising || found == Found::empty;
    if (found != Found::callables) continue;
    info.runner = Verdict::yes;
    return;
  }
  info.inner_attribute = nullptr;
  if (attributes && goes_through_modules(code, self, attributes.get())) {
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
  py::Object* items = container_of(info, self);
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
  return py::item_of(context.items, context.next_item);
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
