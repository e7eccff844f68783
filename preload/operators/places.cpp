#include "operators/places.hpp"

#include <cstring>
#include <lotus/python_frames.hpp>

#include "record/recorder.hpp"

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

// What is known of a code object. Another one may come to lie at its address: then its name lies elsewhere,
// or its table of lines.
struct KnownCode {
  std::uint64_t code, name, line_table;
  std::uint32_t id;          // 0: a free entry
  std::uint32_t generation;  // in which it was defined
};
struct KnownPlace {
  std::uint32_t parent, code;
  std::uint64_t instruction;
  std::uint32_t id;
  std::uint32_t generation;
};
constexpr std::uint32_t kCodes = 2048, kPlaces = 8192, kProbes = 16;
constinit KnownCode codes[kCodes] = {};
constinit KnownPlace places[kPlaces] = {};
constinit std::uint32_t next_code = 1, next_place = 1;

constexpr std::size_t kMostFrames = 96;  // innermost ones; what calls those is not told

struct FrameAt {
  std::uint64_t frame = 0, code = 0, instruction = 0;

  bool operator==(const FrameAt&) const = default;
};

// The chain of the thread's last place, outermost first: from one operator to the next, most of it stays. Of
// the one thread that trains.
class Chain {
 public:
  // Keeps what is the same as before of `frames`, innermost first, of which `left` are new then. Returns the
  // place of the last frame that is the same; 0: none is.
  std::uint32_t follow(const FrameAt* frames, std::size_t& left) {
    if (generation_ != process.generation) count_ = 0;
    generation_ = process.generation;
    std::size_t same = 0;
    for (; left > 0 && same < count_ && frames_[same] == frames[left - 1]; ++same) --left;
    count_ = same;
    return same == 0 ? 0 : places_[same - 1];
  }
  void add(const FrameAt& frame, std::uint32_t place) {
    frames_[count_] = frame;
    places_[count_++] = place;
  }

 private:
  FrameAt frames_[kMostFrames] = {};
  std::uint32_t places_[kMostFrames] = {};
  std::size_t count_ = 0;
  std::uint32_t generation_ = 0;
};
constinit Chain chain{};

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t hash = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

std::uint64_t word_at(std::uint64_t object, std::int64_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void*>(object + static_cast<std::uint64_t>(offset)), sizeof word);
  return word;
}

bool define_code(const NamedPythonFrame& named, std::uint64_t first_line, std::uint32_t id) {
  return define<Kind::python_code>(id, named.name, named.file, first_line);
}

class Describer {
 public:
  explicit Describer(const PythonFrames& layout) : layout_(layout), walk_(layout, memory_) {}

  // The number of a frame's code; 0: no room.
  std::uint32_t code_of(const FrameAt& at) {
    const std::uint64_t name = word_at(at.code, layout_.name);
    const std::uint64_t table = word_at(at.code, layout_.line_table);
    for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
      KnownCode& known = codes[(mixed(at.code, table) + probe) % kCodes];
      const bool free = known.id == 0;
      if (!free && (known.code != at.code || known.name != name || known.line_table != table)) continue;
      if (!free && known.generation == process.generation) return known.id;
      const std::uint32_t id = free ? next_code : known.id;
      NamedPythonFrame named;
      if (!walk_.describe(at.frame, named) || !define_code(named, first_line(at.code), id)) return 0;
      if (free) ++next_code;
      known = {at.code, name, table, id, process.generation};
      return id;
    }
    return 0;
  }

  std::uint32_t place_of(const FrameAt& at, std::uint32_t parent, std::uint32_t code) {
    for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
      KnownPlace& known =
          places[(mixed(at.instruction, std::uint64_t{parent} << 32 | code) + probe) % kPlaces];
      const bool free = known.id == 0;
      if (!free && (known.parent != parent || known.code != code || known.instruction != at.instruction))
        continue;
      if (!free && known.generation == process.generation) return known.id;
      const std::uint32_t id = free ? next_place : known.id;
      NamedPythonFrame named;
      if (!walk_.describe(at.frame, named)) return 0;
      if (!define<Kind::place>(id, parent, code, named.line, offset_of(at))) return 0;
      if (free) ++next_place;
      known = {parent, code, at.instruction, id, process.generation};
      return id;
    }
    return 0;
  }

  std::uint64_t instruction_of(std::uint64_t frame) const {
    if (layout_.minor >= 11) return word_at(frame, layout_.instruction);
    return word_at(frame, layout_.instruction) & 0xffffffffu;
  }

 private:
  std::uint64_t first_line(std::uint64_t code) const {
    return word_at(code, layout_.first_line) & 0xffffffffu;
  }
  // Of the instruction in its code, in bytes.
  std::uint64_t offset_of(const FrameAt& at) const {
    if (layout_.minor >= 11)
      return at.instruction - (at.code + static_cast<std::uint64_t>(std::int64_t{layout_.instructions}));
    return layout_.minor == 10 ? 2 * at.instruction : at.instruction;
  }

  const PythonFrames& layout_;
  DirectMemory memory_;
  PythonFrameWalk<DirectMemory> walk_;
};

// This thread's Python frames, innermost first.
std::size_t frames_of(const PythonFrames& layout, const Describer& describer, std::uint64_t state,
                      FrameAt* frames) {
  constexpr std::uint8_t kEvaluators = 3;
  constexpr std::int64_t kType = 8;  // of an object
  std::uint64_t frame = word_at(state, layout.current);
  if (layout.cframe >= 0 && frame != 0) frame = word_at(frame, layout.cframe);
  std::size_t count = 0;
  for (; frame != 0 && count < kMostFrames; frame = word_at(frame, layout.previous)) {
    if (layout.owner >= 0) {
      std::uint8_t owner = 0;
      std::memcpy(&owner, reinterpret_cast<const void*>(frame + static_cast<std::uint64_t>(layout.owner)), 1);
      if (owner >= kEvaluators) continue;
    }
    const std::uint64_t code = word_at(frame, layout.code) & layout.pointer_mask;
    if (code == 0 || word_at(code, kType + layout.header_more) != layout.code_type) continue;
    frames[count++] = {frame, code, describer.instruction_of(frame)};
  }
  return count;
}

}  // namespace

std::uint32_t current_place() {
  const Thread* thread = this_thread.recorder;
  if (thread == nullptr || process.segment.header == nullptr || thread->slot->python_state == 0) return 0;
  const PythonFrames& layout = process.segment.header->python;
  if (__atomic_load_n(&layout.code_type, __ATOMIC_ACQUIRE) == 0) return 0;
  Describer describer(layout);
  FrameAt frames[kMostFrames];
  std::size_t left = frames_of(layout, describer, thread->slot->python_state, frames);
  std::uint32_t place = chain.follow(frames, left);
  while (left-- > 0) {
    const std::uint32_t code = describer.code_of(frames[left]);
    const std::uint32_t next = code != 0 ? describer.place_of(frames[left], place, code) : 0;
    if (next == 0) return 0;
    place = next;
    chain.add(frames[left], place);
  }
  return place;
}

}  // namespace lotus
