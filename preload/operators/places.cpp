#include "operators/places.hpp"

#include "operators/own_frames.hpp"

namespace lotus {
namespace {

constexpr std::size_t kMostFrames = 96;  // innermost ones; what calls those is not told

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

// This thread's Python frames, innermost first.
std::size_t frames_of(const PythonFrames& layout, std::uint64_t state, FrameAt* frames) {
  std::size_t count = 0;
  for (std::uint64_t frame = innermost_frame(layout, state); frame != 0 && count < kMostFrames;
       frame = caller_of(layout, frame)) {
    const std::uint64_t code = code_in(layout, frame);
    if (code == 0) continue;
    frames[count++] = {frame, code, instruction_in(layout, frame)};
  }
  return count;
}

}  // namespace

std::uint32_t current_place() {
  const Thread* thread = this_thread.recorder;
  const PythonFrames* const layout = thread != nullptr ? frame_layout() : nullptr;
  if (layout == nullptr || thread->slot->python_state == 0) return 0;
  FrameAt frames[kMostFrames];
  std::size_t left = frames_of(*layout, thread->slot->python_state, frames);
  std::uint32_t place = chain.follow(frames, left);
  while (left-- > 0) {
    const KnownCode* const code = known_code(*layout, frames[left].frame, frames[left].code);
    const std::uint32_t next = code != nullptr ? place_of(*layout, frames[left], place, code->id) : 0;
    if (next == 0) return 0;
    place = next;
    chain.add(frames[left], place);
  }
  return place;
}

}  // namespace lotus
