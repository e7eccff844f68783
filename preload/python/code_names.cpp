#include "python/code_names.hpp"

#include "python/known_calls.hpp"
#include "record/recorder.hpp"

namespace lotus {
namespace {

constinit std::uint32_t codes_made = 0;

}  // namespace

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
