// This thread's Python frames, and the numbers of their codes and places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <lotus/python_frames.hpp>

#include "record/recorder.hpp"

namespace lotus {

struct FrameAt {
  std::uint64_t frame = 0, code = 0, instruction = 0;

  bool operator==(const FrameAt&) const = default;
};

// What is known of a code object. Another one may come to lie at its address: then its name lies elsewhere,
// or its table of lines.
struct KnownCode {
  std::uint64_t code, name, line_table;
  std::uint32_t id;          // of its definition; 0: a free entry
  std::uint32_t generation;  // in which it was defined
  bool is_own;               // the program's, and no library's
  // Where calls are recorded:
  std::uint32_t active;       // its calls that are open
  std::uint32_t told, tried;  // its tables: in this generation, + 1; in this region, see tell_tables()
  bool is_held;               // it is there for good
  bool is_generator;          // or a coroutine
  std::int32_t begins_at;     // the offset that a generator stands at before its first line; -1: not known
};

// How frames lie in this interpreter; nullptr: not known. Needs no GIL: the frames of a thread that is inside
// a call do not change.
inline const PythonFrames* frame_layout() {
  if (process.segment.header == nullptr) return nullptr;
  const PythonFrames& layout = process.segment.header->python;
  return __atomic_load_n(&layout.code_type, __ATOMIC_ACQUIRE) != 0 ? &layout : nullptr;
}

inline std::uint64_t word_in(std::uint64_t object, std::int64_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void*>(object + static_cast<std::uint64_t>(offset)), sizeof word);
  return word;
}

// What is linked as a frame, but is an evaluator's own.
inline bool is_evaluators(const PythonFrames& layout, std::uint64_t frame) {
  constexpr std::uint8_t kEvaluators = 3;
  return layout.owner >= 0 && *reinterpret_cast<const std::uint8_t*>(
                                  frame + static_cast<std::uint64_t>(layout.owner)) >= kEvaluators;
}

// A frame's caller, and the frame that a thread executes; 0: there is none.
inline std::uint64_t caller_of(const PythonFrames& layout, std::uint64_t frame) {
  do frame = word_in(frame, layout.previous);
  while (frame != 0 && is_evaluators(layout, frame));
  return frame;
}
inline std::uint64_t innermost_frame(const PythonFrames& layout, std::uint64_t state) {
  std::uint64_t frame = word_in(state, layout.current);
  if (layout.cframe >= 0 && frame != 0) frame = word_in(frame, layout.cframe);
  return frame != 0 && is_evaluators(layout, frame) ? caller_of(layout, frame) : frame;
}

// From 3.13 on, CPython's own frame around an __init__ that it calls without a C call has a constant as its
// code, which is in memory that cannot be written: to be asked for its instructions, it would write there.
// Its name and its file are one str; no compiler makes such code.
inline bool is_constant_code(const PythonFrames& layout, std::uint64_t code) {
  return word_in(code, layout.name) == word_in(code, layout.file);
}

// 0: what lies there is none of the program's.
inline std::uint64_t code_in(const PythonFrames& layout, std::uint64_t frame) {
  constexpr std::int64_t kType = 8;  // of an object
  const std::uint64_t code = word_in(frame, layout.code) & layout.pointer_mask;
  if (code == 0 || word_in(code, kType + layout.header_more) != layout.code_type) return 0;
  return is_constant_code(layout, code) ? 0 : code;
}

inline std::uint64_t instruction_in(const PythonFrames& layout, std::uint64_t frame) {
  const std::uint64_t word = word_in(frame, layout.instruction);
  return layout.minor >= 11 ? word : word & 0xffffffffu;
}

// Of a frame's code; nullptr: no room.
KnownCode* known_code(const PythonFrames& layout, std::uint64_t frame, std::uint64_t code);

// The place of a frame's instruction, below `parent`; 0: no room, or `only_known` and it is not yet. `code`:
// id of its code.
std::uint32_t place_of(const PythonFrames& layout, const FrameAt& at, std::uint32_t parent,
                       std::uint32_t code, bool only_known = false);

// Half of the room for places is used, or most of it.
bool many_places();
bool most_places();

}  // namespace lotus
