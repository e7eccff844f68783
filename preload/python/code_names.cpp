#include "python/code_names.hpp"

#include <cstring>
#include <lotus/library_code.hpp>

#include "python/known_calls.hpp"
#include "record/recorder.hpp"

namespace lotus {
namespace {

constinit std::uint32_t codes_made = 0;

// Whether the code is the __init__ of a class of the object.
bool constructs(py::Object* code, py::Object* object) {
  const Owned order(
      py::api.PyObject_GetAttr(reinterpret_cast<py::Object*>(py::type_of(object)), names.__mro__));
  const py::Ssize size = order && py::is_a(order.get(), py::kTuple) ? py::api.PyTuple_Size(order.get()) : 0;
  for (py::Ssize i = 0; i < size; ++i) {
    const auto* type = reinterpret_cast<const py::Type*>(py::api.PyTuple_GetItem(order.get(), i));
    py::Object* const attributes = py::dictionary_of(type);
    py::Object* const init =
        attributes != nullptr ? py::api.PyDict_GetItem(attributes, names.__init__) : nullptr;
    if (init != nullptr && py::is_exactly(init, py::api.PyFunction_Type) &&
        py::api.PyFunction_GetCode(init) == code)
      return true;
  }
  return false;
}

// Numbers of instructions differ between versions of Python: the module `opcode` knows them, which PyTorch
// imports by way of `inspect`.
class Instructions {
 public:
  // From behind the call that `frame` is in.
  Instructions(py::Object* frame, py::Object* code)
      : bytes_(py::api.PyObject_GetAttr(code, names.co_code)), numbers_(numbers()) {
    const Owned at(py::api.PyObject_GetAttr(frame, names.f_lasti));
    py::api.PyErr_Clear();
    at_ = static_cast<std::size_t>(integer_of(at.get(), -2) + 2);
    next();
  }
  bool known() const { return numbers_ && at_ < text().size(); }
  int argument() const { return argument_; }
  bool is(const char* name) const {
    const Owned number(known() ? py::api.PyMapping_GetItemString(numbers_.get(), name) : nullptr);
    py::api.PyErr_Clear();
    return integer_of(number.get(), -1) == opcode() && number;
  }
  // The next one, room for caches left out.
  void next() {
    for (argument_ = 0; at_ + 1 < text().size(); at_ += 2) {
      argument_ = argument_ << 8 | static_cast<unsigned char>(text()[at_ + 1]);
      if (opcode() == 0) argument_ = 0;
      if (opcode() != 0 && !is("EXTENDED_ARG")) return;
    }
  }
  void skip() {
    at_ += 2;
    next();
  }

 private:
  // No other mapping is asked, whose code might be Python's. From 3.15 it is a frozendict.
  static bool is_dictionary(py::Object* map) {
    return py::is_a(map, py::kDict) || std::strcmp(py::type_name(py::type_of(map)), "frozendict") == 0;
  }
  static py::Object* numbers() {
    py::Object* const module = loaded_module("opcode");
    py::Object* const map = module != nullptr ? py::api.PyObject_GetAttr(module, names.opmap) : nullptr;
    if (map != nullptr && !is_dictionary(map)) {
      py::api.Py_DecRef(map);
      return nullptr;
    }
    return map;
  }
  std::string_view text() const { return text_of(bytes_.get()); }
  int opcode() const { return at_ < text().size() ? static_cast<unsigned char>(text()[at_]) : -1; }

  Owned bytes_, numbers_;
  std::size_t at_ = 0;
  int argument_ = 0;
};

py::Object* name_at(py::Object* code, py::Object* list, int index) {
  const Owned all(py::api.PyObject_GetAttr(code, list));
  py::api.PyErr_Clear();
  const bool there = all && index >= 0 && index < py::api.PyTuple_Size(all.get());
  return there ? py::api.PyTuple_GetItem(all.get(), index) : nullptr;  // the code keeps it
}

// What the result of the call that `frame` is in is assigned to.
void name_origin(Origin& origin, py::Object* frame, py::Object* code) {
  py::Object *owner = nullptr, *name = nullptr;
  Instructions at(frame, code);
  const bool returned = at.is("RETURN_VALUE");
  if (at.is("STORE_FAST")) {
    name = name_at(code, names.co_varnames, at.argument());
  } else if (at.is("STORE_FAST_LOAD_FAST") || at.is("STORE_FAST_STORE_FAST")) {  // from 3.13, two in one
    name = name_at(code, names.co_varnames, at.argument() >> 4);
  } else if (at.is("STORE_NAME") || at.is("STORE_GLOBAL")) {
    name = name_at(code, names.co_names, at.argument());
  } else if (at.is("LOAD_FAST") || at.is("LOAD_FAST_BORROW")) {
    owner = name_at(code, names.co_varnames, at.argument());
    at.skip();
    name = at.is("STORE_ATTR") ? name_at(code, names.co_names, at.argument()) : nullptr;
  }
  if (name == nullptr && !returned) return;
  py::api.Py_IncRef(code);
  const Owned before(origin.namer);
  origin.namer = code;
  origin.owner = owner;
  origin.name = name;
  origin.returned = returned;
}

void place_origin(Origin& origin, py::Object* frame, py::Object* code) {
  py::api.Py_IncRef(code);
  const Owned before(origin.code);
  origin.code = code;
  origin.line = py::api.PyFrame_GetLineNumber(frame);
}

}  // namespace

Origin origin_of(py::Object* object) {
  constexpr int kMostFrames = 32;
  Origin origin;
  bool constructing = true;  // all functions from the object's constructor to here are constructors
  py::Object* frame = py::api.PyEval_GetFrame();  // borrowed
  if (frame != nullptr) py::api.Py_IncRef(frame);
  for (int i = 0; frame != nullptr && i < kMostFrames; ++i) {
    const Owned held(frame);
    const Owned code(py::api.PyFrame_GetCode(frame));
    frame = py::api.PyFrame_GetBack(held.get());
    if (origin.code == nullptr && constructs(code.get(), object)) continue;
    const CodeText text(code.get());
    const bool own = !is_library_code(text.file());
    if (own || origin.code == nullptr) place_origin(origin, held.get(), code.get());
    if (constructing) name_origin(origin, held.get(), code.get());
    if (own) break;
    const Owned name(py::api.PyObject_GetAttr(code.get(), names.co_name));
    constructing = constructing && text_of(name.get()) == "__init__";
  }
  const Owned rest(frame);
  py::api.PyErr_Clear();
  return origin;
}

void release_origin(const Origin& origin) {
  for (py::Object* code : {origin.code, origin.namer})
    if (code != nullptr) py::api.Py_DecRef(code);
}

std::string_view origin_name(const Origin& origin, char* buffer, std::size_t size) {
  const Owned function(origin.returned ? py::api.PyObject_GetAttr(origin.namer, names.co_name) : nullptr);
  std::size_t used = 0;
  const auto append = [&](std::string_view text) {
    const std::size_t bytes = text.size() < size - used ? text.size() : size - used;
    std::memcpy(buffer + used, text.data(), bytes);
    used += bytes;
  };
  append(text_of(function ? function.get() : origin.owner != nullptr ? origin.owner : origin.name));
  if (origin.owner != nullptr) append(".");
  if (origin.owner != nullptr) append(text_of(origin.name));
  if (origin.returned) append("()");
  return {buffer, used};
}

CodeText::CodeText(py::Object* code)
    : name_(py::api.PyObject_GetAttr(code, py::layout->minor >= 11 ? names.co_qualname : names.co_name)),
      file_(py::api.PyObject_GetAttr(code, names.co_filename)),
      line_(py::api.PyObject_GetAttr(code, names.co_firstlineno)) {
  py::api.PyErr_Clear();
}

std::uint32_t define_code(const Call& call) {
  const CodeText text(call.code);
  const std::uint32_t id = codes_made + 1;
  if (!define<Kind::code>(id, text.name(), text.file(), text.line())) return 0;
  codes_made = id;
  CodeInfo& info = *call.info;
  info.code_definition = id;
  info.code_generation = process.generation;
  return id;
}

void forget_code_names() {
  codes_made = 0;
  known_calls.clear();
}

}  // namespace lotus
