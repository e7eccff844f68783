// A thread's Python frames, read out of the memory of its process by whoever may read that. The process
// describes in its segment where everything lies (PythonFrames), after it has tried this reader on itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lotus {

// Of one interpreter. Offsets are in bytes.
struct PythonFrames {
  std::uint64_t code_type;     // address of the type of code objects; 0: frames cannot be read
  std::uint64_t pointer_mask;  // takes the tags off a frame's pointers
  std::uint32_t minor;         // of Python 3
  std::int16_t current;        // of a thread state: its innermost frame, or …
  std::int16_t cframe;         // … an object that has it at this offset; -1: there is none
  // Of a frame: its caller; its code; a byte that is kEvaluators or more where the frame is none of Python
  // code, -1: there is none; its instruction, an address from 3.11, before that a number
  std::int16_t previous, code, owner, instruction;
  // Of a code object: two strings, its table of line numbers (bytes), its first line; its instructions from
  // 3.11
  std::int16_t name, file, line_table, first_line, instructions;
  std::int16_t text;        // of a string of ASCII: its first character, …
  std::int16_t other_text;  // … of another string
  // Bytes by which each object's header is longer than elsewhere, free-threaded. All above count them in.
  std::int16_t header_more;
};
static_assert(sizeof(PythonFrames) == 48);

struct NamedPythonFrame {
  char name[256];  // as UTF-8, cut where it is longer; qualified from 3.11
  char file[1024];
  std::uint64_t line;  // that is executed; 0: not known
};

// `Memory` has bool read(std::uint64_t address, void* to, std::size_t bytes). Whatever the memory holds,
// all stays within bounds.
template <class Memory>
class PythonFrameWalk {
 public:
  PythonFrameWalk(const PythonFrames& layout, Memory& memory) : layout_(layout), memory_(memory) {}

  // Begins at the innermost frame of a thread state. False: there is none.
  bool begin(std::uint64_t thread_state) {
    if (layout_.code_type == 0 || thread_state == 0 || !word(thread_state, layout_.current, frame_))
      return false;
    return layout_.cframe < 0 || word(frame_, layout_.cframe, frame_);
  }
  // The next frame, from the innermost one outwards. False: there is none that can be read.
  bool next(NamedPythonFrame& out) {
    for (unsigned skipped = 0; frame_ != 0 && skipped < kMostSkipped; ++skipped) {
      const std::uint64_t frame = frame_;
      if (!word(frame, layout_.previous, frame_)) frame_ = 0;
      std::uint8_t owner = 0;
      if (layout_.owner >= 0 && !memory_.read(at(frame, layout_.owner), &owner, 1)) return false;
      if (owner < kEvaluators) return describe(frame, out);
    }
    return false;
  }

  // The Python frame at an address.
  bool describe(std::uint64_t frame, NamedPythonFrame& out) {
    std::uint64_t code = 0, type = 0, name = 0, file = 0;
    if (!word(frame, layout_.code, code)) return false;
    code &= layout_.pointer_mask;
    if (!word(code, behind_header(kType), type) || type != layout_.code_type) return false;
    if (!word(code, layout_.name, name) || !word(code, layout_.file, file)) return false;
    if (!text(name, out.name, sizeof out.name) || !text(file, out.file, sizeof out.file)) return false;
    out.line = line(frame, code);
    return true;
  }

 private:
  static constexpr std::uint8_t kEvaluators = 3;
  static constexpr unsigned kMostSkipped = 64;
  static constexpr std::size_t kMostTable = 8192;  // bytes of a table of line numbers
  // Of objects with the ordinary header.
  static constexpr std::int64_t kType = 8, kLength = 16, kBytes = 32, kTextState = 32;

  static std::uint64_t at(std::uint64_t object, std::int64_t offset) {
    return object + static_cast<std::uint64_t>(offset);
  }
  template <class T>
  bool value(std::uint64_t object, std::int64_t offset, T& out) {
    return memory_.read(at(object, offset), &out, sizeof out);
  }
  bool word(std::uint64_t object, std::int64_t offset, std::uint64_t& out) {
    return value(object, offset, out);
  }
  std::int64_t behind_header(std::int64_t offset) const { return offset + layout_.header_more; }

  // A string as UTF-8, NUL-terminated, cut to `room`.
  bool text(std::uint64_t string, char* out, std::size_t room) {
    std::uint64_t length = 0;
    std::uint32_t state = 0;
    if (!word(string, behind_header(kLength), length) || !value(string, behind_header(kTextState), state))
      return false;
    const std::uint32_t width = state >> 2 & 7;
    const bool compact = (state >> 5 & 1) != 0, ascii = (state >> 6 & 1) != 0;
    if (!compact || (width != 1 && width != 2 && width != 4)) return false;
    std::uint64_t from = at(string, ascii ? layout_.text : layout_.other_text);
    char* const end = out + room - 5;  // room for one character and the end
    while (length > 0 && out < end) {
      std::uint8_t piece[256];
      const std::uint64_t characters = length < sizeof piece / width ? length : sizeof piece / width;
      if (!memory_.read(from, piece, characters * width)) return false;
      for (std::uint64_t i = 0; i < characters && out < end; ++i) {
        std::uint32_t character = 0;
        std::memcpy(&character, piece + i * width, width);
        out = put_character(out, character);
      }
      length -= characters;
      from += characters * width;
    }
    *out = '\0';
    return true;
  }

  static char* put_character(char* out, std::uint32_t character) {
    const auto put = [&](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
    const auto put_rest = [&](std::uint32_t shift) { put(0x80 | (character >> shift & 0x3f)); };
    if (character < 0x80 || character > 0x10ffff) {
      put(character < 0x80 ? character : '?');
    } else if (character < 0x800) {
      put(0xc0 | character >> 6);
      put_rest(0);
    } else if (character < 0x10000) {
      put(0xe0 | character >> 12);
      put_rest(6);
      put_rest(0);
    } else {
      put(0xf0 | character >> 18);
      put_rest(12);
      put_rest(6);
      put_rest(0);
    }
    return out;
  }

  std::uint64_t line(std::uint64_t frame, std::uint64_t code) {
    std::uint64_t table = 0, length = 0;
    std::int32_t first = 0;
    if (!value(code, layout_.first_line, first) || !word(code, layout_.line_table, table)) return 0;
    if (!word(table, behind_header(kLength), length) || length > kMostTable) return 0;
    std::uint8_t bytes[kMostTable];
    if (!memory_.read(at(table, behind_header(kBytes)), bytes, length)) return 0;
    std::int64_t offset = 0;  // of the instruction, in bytes
    if (layout_.minor >= 11) {
      std::uint64_t instruction = 0;
      if (!word(frame, layout_.instruction, instruction)) return 0;
      offset = static_cast<std::int64_t>(instruction - at(code, layout_.instructions));
    } else {
      std::int32_t number = 0;
      if (!value(frame, layout_.instruction, number)) return 0;
      offset = layout_.minor == 10 ? std::int64_t{2} * number : number;
    }
    const std::int64_t found = layout_.minor >= 11   ? line_of_location(bytes, length, first, offset)
                               : layout_.minor == 10 ? line_of_range(bytes, length, first, offset)
                                                     : line_of_step(bytes, length, first, offset);
    return found > 0 ? static_cast<std::uint64_t>(found) : 0;
  }

  // co_linetable from 3.11 (Objects/locations.md of CPython): entries that begin with a byte above 127.
  static std::int64_t line_of_location(const std::uint8_t* table, std::size_t bytes, std::int64_t line,
                                       std::int64_t offset) {
    std::int64_t end = 0;
    for (std::size_t i = 0; i < bytes;) {
      const unsigned form = table[i] >> 3 & 15;
      end += 2 * ((table[i] & 7) + 1);
      ++i;
      bool has_line = true;
      if (form == 13 || form == 14) {
        std::uint64_t delta = 0;
        for (unsigned shift = 0; i < bytes && shift < 60; shift += 6) {
          delta |= static_cast<std::uint64_t>(table[i] & 0x3f) << shift;
          if ((table[i++] & 0x40) == 0) break;
        }
        const auto magnitude = static_cast<std::int64_t>(delta >> 1);
        line += (delta & 1) != 0 ? -magnitude : magnitude;
      } else if (form >= 10 && form <= 12) {
        line += form - 10;
      } else if (form == 15) {
        has_line = false;
      }
      if (offset < end) return has_line ? line : 0;
      while (i < bytes && table[i] < 0x80) ++i;
    }
    return 0;
  }
  // co_linetable of 3.10: pairs of a range's length and of what is added to the line; -128: it has none.
  static std::int64_t line_of_range(const std::uint8_t* table, std::size_t bytes, std::int64_t line,
                                    std::int64_t offset) {
    std::int64_t end = 0;
    for (std::size_t i = 0; i + 1 < bytes; i += 2) {
      const auto delta = static_cast<std::int8_t>(table[i + 1]);
      if (delta != -128) line += delta;
      end += table[i];
      if (offset < end) return delta != -128 ? line : 0;
    }
    return 0;
  }
  // co_lnotab up to 3.9: pairs of what is added to the instruction's offset and to the line.
  static std::int64_t line_of_step(const std::uint8_t* table, std::size_t bytes, std::int64_t line,
                                   std::int64_t offset) {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i + 1 < bytes; i += 2) {
      begin += table[i];
      if (begin > offset) break;
      line += static_cast<std::int8_t>(table[i + 1]);
    }
    return line;
  }

  const PythonFrames& layout_;
  Memory& memory_;
  std::uint64_t frame_ = 0;
};

}  // namespace lotus
