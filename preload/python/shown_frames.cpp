#include "python/shown_frames.hpp"

#include <cstring>
#include <lotus/python_frames.hpp>

#include "python/code_names.hpp"
#include "python/frame_chain.hpp"
#include "system/mappings.hpp"

namespace lotus {
namespace {

// Where things lie by version. What is said here is tried on the running interpreter before it is used.
struct Places {
  int minor;  // and later ones, up to the next row
  std::int16_t instruction;
  std::int16_t name, file, line_table, first_line;
  std::int16_t text, other_text;
};
constexpr Places kPlaces[] = {
    // minor, instruction; name, file, line table, first line; text, other text
    {9, 104, 112, 104, 120, 40, 48, 72},  // f_lasti, co_lnotab
    {10, 96, 112, 104, 120, 40, 48, 72},  // … in instructions, co_linetable
    {11, 56, 128, 112, 136, 72, 48, 72},  // prev_instr, co_qualname
    {12, 56, 128, 112, 136, 68, 40, 56},
};

PythonFrames frames_of_version(const py::ThreadState* state) {
  const Places* places = nullptr;
  for (const Places& row : kPlaces)
    if (row.minor <= py::layout->minor) places = &row;
  PythonFrames frames{};
  if (places == nullptr) return frames;
  frames.minor = static_cast<std::uint32_t>(py::layout->minor);
  frames.pointer_mask = py::layout->pointer_mask;
  frames.code = static_cast<std::int16_t>(py::layout->frame_code);
  frames.instruction = places->instruction;
  const auto behind_header = [](std::int16_t offset) {
    return static_cast<std::int16_t>(offset + py::header_more);
  };
  frames.header_more = behind_header(0);
  frames.name = behind_header(places->name);
  frames.file = behind_header(places->file);
  frames.line_table = behind_header(places->line_table);
  frames.first_line = behind_header(places->first_line);
  frames.instructions = static_cast<std::int16_t>(py::layout->code_extra + 8);
  frames.text = behind_header(places->text);
  frames.other_text = behind_header(places->other_text);
  if (!describe_chain(state, frames)) frames.minor = 0;
  return frames;
}

struct SafeMemory {
  bool read(std::uint64_t address, void* to, std::size_t bytes) {
    return read_own_memory(address, to, bytes) == bytes;
  }
};

bool is_text(const char* read, std::string_view told) {
  return std::strlen(read) == told.size() && told == read;
}

// Whether the reader finds what the interpreter says of the innermost frame.
[[gnu::noinline]] bool reads_right(const PythonFrames& frames, const py::ThreadState* state,
                                   py::Object* frame, py::Object* code) {
  SafeMemory memory;
  PythonFrameWalk walk(frames, memory);
  NamedPythonFrame found;
  if (!walk.begin(reinterpret_cast<std::uint64_t>(state)) || !walk.next(found)) return false;
  const CodeText text(code);
  if (text.name().size() >= sizeof found.name / 2 || text.file().size() >= sizeof found.file / 2)
    return false;
  return is_text(found.name, text.name()) && is_text(found.file, text.file()) &&
         found.line == static_cast<std::uint64_t>(py::api.PyFrame_GetLineNumber(frame));
}

enum class Tried : std::uint8_t { no, wrong, right };
constinit Tried tried = Tried::no;
constinit PythonFrames known{};

void try_out(const py::ThreadState* state) {
  py::Object* const frame = py::api.PyEval_GetFrame();  // borrowed
  if (frame == nullptr) return;                         // the next role will have a caller
  const Owned code(py::api.PyFrame_GetCode(frame));
  if (!code) return;
  known = frames_of_version(state);
  known.code_type = reinterpret_cast<std::uint64_t>(py::type_of(code.get()));
  tried = known.minor != 0 && reads_right(known, state, frame, code.get()) ? Tried::right : Tried::wrong;
}

}  // namespace

void show_interpreter(py::ThreadState* state) {
  PythonFrames& shown = process.segment.header->python;
  if (shown.code_type != 0 || tried == Tried::wrong) return;
  if (tried == Tried::no) try_out(state);
  if (tried != Tried::right) return;
  const std::uint64_t code_type = known.code_type;
  PythonFrames rest = known;
  rest.code_type = 0;
  shown = rest;
  __atomic_store_n(&shown.code_type, code_type, __ATOMIC_RELEASE);
}

}  // namespace lotus
