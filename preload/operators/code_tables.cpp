#include "operators/code_tables.hpp"

#include <algorithm>
#include <string_view>

#include "python/objects.hpp"

namespace lotus {
namespace {

constexpr std::size_t kMostBytes = 48 * 1024;  // of a function's tables; the ring has room for two of these
constinit std::uint8_t record[kMostBytes + 128] = {};  // under the GIL

// co_names, joined by newlines; into `text`. Returns its end; nullptr: it does not fit.
char* join_names(py::Object* list, char* text, const char* end) {
  const py::Ssize count = py::api.PyTuple_Size(list);
  for (py::Ssize i = 0; i < count; ++i) {
    const std::string_view name = text_of(py::api.PyTuple_GetItem(list, i));
    if (static_cast<std::size_t>(end - text) < name.size() + 1) return nullptr;
    if (i > 0) *text++ = '\n';
    text = std::copy(name.begin(), name.end(), text);
  }
  return text;
}

std::uint8_t* put_text(std::uint8_t* out, std::string_view text) {
  out = put_varint(out, text.size());
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

bool send_tables(std::uint32_t code, std::string_view bytecode, std::string_view lines,
                 std::string_view joined, std::string_view exceptions) {
  if (bytecode.size() + lines.size() + joined.size() + exceptions.size() > kMostBytes)
    bytecode = lines = joined = exceptions = {};
  std::uint8_t* out = record;
  *out++ = static_cast<std::uint8_t>(Kind::code_table);
  out = put_varint(put_varint(out, 0), code);
  out = put_text(put_text(put_text(out, bytecode), lines), joined);
  out = put_text(put_varint(out, 1), exceptions);
  return detail::offer_definition(record, static_cast<std::size_t>(out - record), ticks_now());
}

// From 3.11 on, a generator's code begins with the instruction that makes it, but for what variables in cells
// need. Its number; -1: not known.
int return_generator() {
  constexpr int kWholeFile = 257;  // Py_file_input
  static constinit int opcode = -1;
  if (opcode >= 0) return opcode;
  const Owned module(py::api.Py_CompileString("def g():\n yield\n", "<lotus>", kWholeFile));
  const Owned constants(module ? py::api.PyObject_GetAttrString(module.get(), "co_consts") : nullptr);
  const bool has_code = constants && py::api.PyTuple_Size(constants.get()) > 0;
  const Owned bytecode(
      has_code ? py::api.PyObject_GetAttr(py::api.PyTuple_GetItem(constants.get(), 0), names.co_code)
               : nullptr);
  if (bytecode && !text_of(bytecode.get()).empty())
    opcode = static_cast<unsigned char>(text_of(bytecode.get())[0]);
  py::api.PyErr_Clear();
  return opcode;
}

// Where a generator stands before it begins: at the instruction that made it up to 3.12, later at the next
// one.
std::int32_t beginning_of(std::string_view bytecode) {
  const int opcode = return_generator();
  for (std::size_t i = 0; i + 1 < bytecode.size(); i += 2)
    if (static_cast<unsigned char>(bytecode[i]) == opcode)
      return static_cast<std::int32_t>(py::layout->minor >= 13 ? i + 2 : i);
  return -1;
}

}  // namespace

void tell_tables(KnownCode& known, std::uint64_t region) {
  constexpr std::int64_t kGeneratorFlags =
      0x20 | 0x80 | 0x200;  // CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
  if (known.tried == static_cast<std::uint32_t>(region) || py::api.PyErr_Occurred() != nullptr) return;
  known.tried = static_cast<std::uint32_t>(region);
  auto* const code = reinterpret_cast<py::Object*>(known.code);
  const Owned bytecode(py::api.PyObject_GetAttr(code, names.co_code));
  const Owned lines(
      py::api.PyObject_GetAttrString(code, py::layout->minor == 9 ? "co_lnotab" : "co_linetable"));
  const Owned exceptions(py::layout->minor >= 11 ? py::api.PyObject_GetAttrString(code, "co_exceptiontable")
                                                 : nullptr);
  const Owned list(py::api.PyObject_GetAttr(code, names.co_names));
  const Owned flags(py::api.PyObject_GetAttr(code, names.co_flags));
  py::api.PyErr_Clear();
  if (!bytecode || !lines || !list || !flags) return;
  static constinit char joined[kMostBytes] = {};
  const char* const end = join_names(list.get(), joined, joined + sizeof joined);
  const std::string_view text =
      end != nullptr ? std::string_view(joined, static_cast<std::size_t>(end - joined)) : std::string_view{};
  known.is_generator = (integer_of(flags.get(), 0) & kGeneratorFlags) != 0;
  known.begins_at =
      known.is_generator && py::layout->minor >= 11 ? beginning_of(text_of(bytecode.get())) : -1;
  py::api.PyErr_Clear();
  if (!known.is_held) py::api.Py_IncRef(code);
  known.is_held = true;
  if (send_tables(known.id, text_of(bytecode.get()), text_of(lines.get()), text,
                  exceptions ? text_of(exceptions.get()) : std::string_view{}))
    known.told = process.generation + 1;
}

bool is_generators(const PythonFrames& layout, std::uint64_t frame) {
  if (layout.minor <= 10) return true;  // making one runs no frame
  constexpr std::uint8_t kOwnedByGenerator = 1;
  const std::int64_t owner = layout.minor == 11 ? 69 : std::int64_t{layout.owner};
  return *reinterpret_cast<const std::uint8_t*>(frame + static_cast<std::uint64_t>(owner)) ==
         kOwnedByGenerator;
}

bool is_at_beginning(const PythonFrames& layout, std::uint64_t frame, const KnownCode& known) {
  const std::uint64_t instruction = instruction_in(layout, frame);
  if (layout.minor <= 10) return instruction == 0xffffffffu;  // f_lasti is -1
  const auto offset = static_cast<std::int64_t>(
      instruction - (known.code + static_cast<std::uint64_t>(std::int64_t{layout.instructions})));
  return offset == known.begins_at;
}

}  // namespace lotus
