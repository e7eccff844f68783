#include "operators/region_name.hpp"

#include "python/objects.hpp"

namespace lotus {
namespace {

// `wanted` is `name`, or ends with it behind a dot. What stands before that is given back.
bool ends_with_name(std::string_view wanted, std::string_view name, std::string_view& before) {
  if (name.empty() || !wanted.ends_with(name)) return false;
  before = wanted.substr(0, wanted.size() - name.size());
  if (before.empty()) return true;
  if (before.back() != '.') return false;
  before.remove_suffix(1);
  return !before.empty();
}

bool is_module(std::string_view wanted, py::Object* object, py::Object* attribute) {
  if (wanted.empty()) return true;
  const Owned module(object != nullptr ? py::api.PyObject_GetAttr(object, attribute) : nullptr);
  const bool same = module && text_of(module.get()) == wanted;
  py::api.PyErr_Clear();
  return same;
}

// The code of a function, or of what it wraps.
bool runs_code(py::Object* function, const py::Object* code) {
  constexpr int kMostWrappers = 8;
  bool runs = false;
  py::api.Py_IncRef(function);
  for (int i = 0; i < kMostWrappers && function != nullptr; ++i) {
    runs = py::is_exactly(function, py::api.PyFunction_Type) && py::api.PyFunction_GetCode(function) == code;
    py::Object* const inner = runs ? nullptr : plain_attribute(function, names.__wrapped__);
    py::api.Py_DecRef(function);
    function = inner;
  }
  py::api.PyErr_Clear();
  return runs;
}

// `wanted`: of the method of this class, without its own name.
bool is_class(py::Object* type, std::string_view wanted) {
  const Owned name(py::api.PyObject_GetAttr(type, names.__qualname__));
  py::api.PyErr_Clear();
  std::string_view module;
  return name && ends_with_name(wanted, text_of(name.get()), module) &&
         is_module(module, type, names.__module__);
}

// The class of the first argument, or one that it inherits from, that has the function as its method: whether
// that is `of_class`. open: there is none.
Verdict is_method(const Call& call, py::Object* name, std::string_view of_class) {
  py::Object* const self = first_argument(call);
  if (self == nullptr) return Verdict::open;
  py::Object* const type = reinterpret_cast<py::Object*>(py::type_of(self));
  const Owned all(py::api.PyObject_GetAttr(type, names.__mro__));
  py::api.PyErr_Clear();
  if (!all || !py::is_a(all.get(), py::kTuple)) return Verdict::open;
  for (py::Ssize i = 0; i < py::api.PyTuple_Size(all.get()); ++i) {
    py::Object* const owner = py::api.PyTuple_GetItem(all.get(), i);
    py::Object* const own = py::dictionary_of(reinterpret_cast<const py::Type*>(owner));
    py::Object* const method = own != nullptr ? py::api.PyDict_GetItem(own, name) : nullptr;
    if (method != nullptr && runs_code(method, call.code))
      return is_class(owner, of_class) ? Verdict::yes : Verdict::no;
  }
  return Verdict::open;
}

// The module of a function that is no method.
bool is_in_module(const Call& call, std::string_view module) {
  if (module.empty()) return true;
  if (py::layout->minor >= 11) return is_module(module, py::function_of(call.frame), names.__module__);
  const Owned globals(py::api.PyObject_GetAttrString(reinterpret_cast<py::Object*>(call.frame), "f_globals"));
  py::api.PyErr_Clear();
  if (!globals || !py::is_a(globals.get(), py::kDict)) return false;
  py::Object* const name = py::api.PyDict_GetItem(globals.get(), names.__name__);
  return name != nullptr && text_of(name) == module;
}

// Not that of a generator, whose call only makes it, nor a class's body, which has the class's name.
bool is_function(py::Object* code) {
  constexpr std::int64_t kOptimized = 1;  // CO_OPTIMIZED
  constexpr std::int64_t kGeneratorFlags =
      0x20 | 0x80 | 0x200;  // CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
  const Owned value(py::api.PyObject_GetAttr(code, names.co_flags));
  py::api.PyErr_Clear();
  const std::int64_t flags = integer_of(value.get(), 0);
  return (flags & kOptimized) != 0 && (flags & kGeneratorFlags) == 0;
}

// Its qualified name, where its code has one.
bool find_name(const Call& call, std::string_view wanted) {
  std::string_view before;
  const bool qualified = py::layout->minor >= 11;
  const Owned name(py::api.PyObject_GetAttr(call.code, qualified ? names.co_qualname : names.co_name));
  py::api.PyErr_Clear();
  if (!name || !ends_with_name(wanted, text_of(name.get()), before)) return false;
  if (qualified) return is_in_module(call, before);
  const Verdict method = is_method(call, name.get(), before);
  return method != Verdict::open ? method == Verdict::yes : is_in_module(call, before);
}

}  // namespace

bool may_be_region(py::Object* code, std::string_view name, std::string_view wanted) {
  std::string_view before;
  if (!ends_with_name(wanted, name, before) || !is_function(code)) return false;
  if (py::layout->minor < 11) return true;
  const Owned qualified(py::api.PyObject_GetAttr(code, names.co_qualname));
  py::api.PyErr_Clear();
  return qualified && ends_with_name(wanted, text_of(qualified.get()), before);
}

bool is_region(const Call& call, std::string_view wanted) {
  if (call.info->border == Verdict::open)
    call.info->border = find_name(call, wanted) ? Verdict::yes : Verdict::no;
  return call.info->border == Verdict::yes;
}

}  // namespace lotus
