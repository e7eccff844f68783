#include "python/objects.hpp"

#include <cstring>

namespace lotus {

constinit Names names{};

bool intern_names() {
#define LOTUS_NAME(name)                                  \
  names.name = py::api.PyUnicode_InternFromString(#name); \
  if (names.name == nullptr) return false;
  LOTUS_NAMES(LOTUS_NAME)
#undef LOTUS_NAME
  return true;
}

py::Object* plain_attribute(py::Object* object, py::Object* name) {
  py::Object* of_class = py::api._PyType_Lookup(py::type_of(object), name);
  // Methods and properties of the class: nothing that an instance keeps. Slots (member descriptors) and
  // plain values of the class are read.
  if (of_class != nullptr) {
    const char* kind = py::type_name(py::type_of(of_class));
    const bool readable = std::strcmp(kind, "member_descriptor") == 0 || py::is_a(of_class, py::kList) ||
                          py::is_a(of_class, py::kTuple) || py::is_a(of_class, py::kLong) ||
                          py::is_a(of_class, py::kDict) || py::is_none(of_class) ||
                          py::is_exactly(of_class, py::api.PyFunction_Type) ||
                          py::is_a(of_class, py::kUnicode);
    if (!readable) return nullptr;
  }
  py::Object* found = py::api._PyObject_GenericGetAttrWithDict(object, name, nullptr, 1);
  if (found == nullptr) py::api.PyErr_Clear();
  return found;
}

std::int64_t integer_of(py::Object* object, std::int64_t fallback) {
  if (object == nullptr || !py::is_a(object, py::kLong)) return fallback;
  const long long value = py::api.PyLong_AsLongLong(object);
  if (value == -1 && py::api.PyErr_Occurred() != nullptr) {
    py::api.PyErr_Clear();
    return fallback;
  }
  return value;
}

std::int64_t integer_attribute(py::Object* object, py::Object* name, std::int64_t fallback) {
  const Owned value(plain_attribute(object, name));
  return integer_of(value.get(), fallback);
}

py::Object* loaded_module(const char* name) {
  py::Object* const modules = py::api.PyImport_GetModuleDict();
  return modules != nullptr ? py::api.PyDict_GetItemString(modules, name) : nullptr;
}

std::string_view text_of(py::Object* object) {
  if (object == nullptr) return {};
  if (py::is_a(object, py::kUnicode)) {
    py::Ssize size = 0;
    const char* text = py::api.PyUnicode_AsUTF8AndSize(object, &size);
    if (text != nullptr) return {text, static_cast<std::size_t>(size)};
    py::api.PyErr_Clear();  // lone surrogates: a file name that is not UTF-8; see note_path()
  } else if (py::is_a(object, py::kBytes)) {
    char* text = nullptr;
    py::Ssize size = 0;
    if (py::api.PyBytes_AsStringAndSize(object, &text, &size) == 0)
      return {text, static_cast<std::size_t>(size)};
    py::api.PyErr_Clear();
  }
  return {};
}

}  // namespace lotus
