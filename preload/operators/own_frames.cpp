#include "operators/own_frames.hpp"

#include <lotus/library_code.hpp>

namespace lotus {
namespace {

// Of this thread's own frames, and of what they hold.
struct DirectMemory {
  bool read(std::uint64_t address, void* to, std::size_t bytes) const {
    if (address < 4096) return false;
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
};

struct KnownPlace {
  std::uint32_t parent, code;
  std::uint64_t instruction;
  std::uint32_t id;  // 0: a free entry
  std::uint32_t generation;
};
constexpr std::uint32_t kCodes = 2048, kPlaces = 8192, kProbes = 16;
constinit KnownCode codes[kCodes] = {};
constinit KnownPlace places[kPlaces] = {};
constinit std::uint32_t next_code = 1, next_place = 1;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t hash = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

// Not inlined: a frame's names take much of the stack.
[[gnu::noinline]] bool define_code(const PythonFrames& layout, std::uint64_t frame, std::uint64_t code,
                                   std::uint32_t id, bool& is_own) {
  DirectMemory memory;
  PythonFrameWalk<DirectMemory> walk(layout, memory);
  NamedPythonFrame named;
  if (!walk.describe(frame, named)) return false;
  is_own = !is_library_code(named.file);
  return define<Kind::python_code>(id, named.name, named.file,
                                   word_in(code, layout.first_line) & 0xffffffffu);
}

// Of the instruction in its code, in bytes.
std::uint64_t offset_of(const PythonFrames& layout, const FrameAt& at) {
  if (layout.minor >= 11)
    return at.instruction - (at.code + static_cast<std::uint64_t>(std::int64_t{layout.instructions}));
  return layout.minor == 10 ? 2 * at.instruction : at.instruction;
}

[[gnu::noinline]] bool define_place(const PythonFrames& layout, const FrameAt& at, std::uint32_t parent,
                                    std::uint32_t code, std::uint32_t id) {
  DirectMemory memory;
  PythonFrameWalk<DirectMemory> walk(layout, memory);
  NamedPythonFrame named;
  return walk.describe(at.frame, named) &&
         define<Kind::place>(id, parent, code, named.line, offset_of(layout, at));
}

}  // namespace

KnownCode* known_code(const PythonFrames& layout, std::uint64_t frame, std::uint64_t code) {
  const std::uint64_t name = word_in(code, layout.name);
  const std::uint64_t table = word_in(code, layout.line_table);
  for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
    KnownCode& known = codes[(mixed(code, table) + probe) % kCodes];
    const bool free = known.id == 0;
    if (!free && (known.code != code || known.name != name || known.line_table != table)) continue;
    if (!free && known.generation == process.generation) return &known;
    const std::uint32_t id = free ? next_code : known.id;
    bool is_own = false;
    if (!define_code(layout, frame, code, id, is_own)) return nullptr;
    if (free) ++next_code;
    const bool held = known.is_held;
    known = {};
    known.code = code;
    known.name = name;
    known.line_table = table;
    known.id = id;
    known.generation = process.generation;
    known.is_own = is_own;
    known.is_held = held;
    return &known;
  }
  return nullptr;
}

std::uint32_t place_of(const PythonFrames& layout, const FrameAt& at, std::uint32_t parent,
                       std::uint32_t code, bool only_known) {
  for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
    KnownPlace& known = places[(mixed(at.instruction, std::uint64_t{parent} << 32 | code) + probe) % kPlaces];
    const bool free = known.id == 0;
    if (!free && (known.parent != parent || known.code != code || known.instruction != at.instruction))
      continue;
    if (!free && known.generation == process.generation) return known.id;
    if (free && only_known) return 0;
    const std::uint32_t id = free ? next_place : known.id;
    if (!define_place(layout, at, parent, code, id)) return 0;
    if (free) ++next_place;
    known = {parent, code, at.instruction, id, process.generation};
    return id;
  }
  return 0;
}

bool many_places() { return next_place > kPlaces / 2; }
bool most_places() { return next_place > kPlaces / 4 * 3; }

}  // namespace lotus
