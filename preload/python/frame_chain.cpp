#include "python/frame_chain.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "python/objects.hpp"

namespace lotus {
namespace {

constexpr std::size_t kMostSteps = 1024;  // along the chain
constexpr std::ptrdiff_t kNone = -1;

// Offsets, of each version's headers: struct _ts, struct _PyCFrame (up to 3.12), struct _PyInterpreterFrame.
// A version has several rows where its releases differ.
struct Chain {
  int minor;
  std::ptrdiff_t current;  // of a thread state: its innermost frame, or its _PyCFrame
  std::ptrdiff_t
      cframe_current;  // of a _PyCFrame, which lies in the evaluator's C frame; kNone: there is none
  std::ptrdiff_t cframe_previous;  // … the evaluator's around it
  std::ptrdiff_t previous;         // of a frame: its caller
  // What tells where one evaluator's frames end. 3.11: a byte of the outermost one. Later: each evaluator
  // puts a frame of its own into its C frame, whose owner is at least kOwnedByEvaluator.
  std::ptrdiff_t is_entry, owner;
};
constexpr std::uint8_t kOwnedByEvaluator = 3;
constexpr Chain kChains[] = {
    // minor, current, cframe's current, previous; previous, is entry, owner
    {11, 56, 8, 16, 48, 68, kNone},       {12, 56, 0, 8, 8, kNone, 70},
    {13, 72, kNone, kNone, 8, kNone, 70}, {14, 72, kNone, kNone, 8, kNone, 74},
    {14, 64, kNone, kNone, 8, kNone, 74},  // before the field holds_gil
    {15, 72, kNone, kNone, 8, kNone, 74},
};
constinit const Chain* found_chain = nullptr;  // of this interpreter, once found

// Up to 3.10 a frame is an object: PyThreadState.frame, PyFrameObject.f_back.
constexpr std::int16_t kFrameObject = 24, kFrameBack = 24;

class Walk {
 public:
  Walk(const Chain& chain, FrameMemory& memory) : chain_(chain), memory_(memory) {}

  // Begins at the innermost frame. False: there is none to read.
  bool begin(const py::ThreadState* state) {
    // A thread's state is there as long as the thread is.
    std::memcpy(&frame_, reinterpret_cast<const char*>(state) + chain_.current, sizeof frame_);
    if (chain_.cframe_current == kNone) return frame_ != 0;
    cframe_ = frame_;
    return read(cframe_, chain_.cframe_current, frame_) && frame_ != 0;
  }
  std::uintptr_t frame() const { return frame_; }
  bool code(const py::Object*& code) {
    std::uintptr_t word = 0;
    if (!read(frame_, py::layout->frame_code, word)) return false;
    code = reinterpret_cast<const py::Object*>(word & py::layout->pointer_mask);
    return true;
  }
  // An evaluator's own frame, which has no code of a Python function.
  bool is_evaluators() { return chain_.owner != kNone && byte(frame_, chain_.owner) >= kOwnedByEvaluator; }
  // The frame is the outermost one of its evaluator. `address`: in that evaluator's C frame.
  bool ends_evaluation(std::uintptr_t& address) {
    if (is_evaluators()) {
      address = frame_;
      return true;
    }
    if (chain_.is_entry == kNone || byte(frame_, chain_.is_entry) == 0) return false;
    address = cframe_;
    return read(cframe_, chain_.cframe_previous, cframe_);
  }
  // An address in the C frame of the evaluator that runs the frame, the frame being its outermost one.
  bool evaluation(std::uintptr_t& address) {
    address = cframe_;
    return chain_.owner == kNone || read(frame_, chain_.previous, address);
  }
  bool step() { return read(frame_, chain_.previous, frame_) && frame_ != 0; }

 private:
  bool read(std::uintptr_t object, std::ptrdiff_t offset, std::uintptr_t& word) {
    return memory_.read(object + static_cast<std::uintptr_t>(offset), word);
  }
  std::uint8_t byte(std::uintptr_t object, std::ptrdiff_t offset) {
    std::uintptr_t word = 0;
    const std::ptrdiff_t within = offset % 8;
    if (!read(object, offset - within, word)) return 0;
    return static_cast<std::uint8_t>(word >> (8 * within));
  }

  const Chain& chain_;
  FrameMemory& memory_;
  std::uintptr_t frame_ = 0, cframe_ = 0;
};

}  // namespace

bool FrameMemory::read(std::uintptr_t address, std::uintptr_t& word) {
  if (address % sizeof word != 0) return false;
  if (is_stack(address)) {
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
    return true;
  }
  const std::uintptr_t page = address & ~(kPageBytes - 1);
  if (page != copied_) {
    const iovec to{page_, kPageBytes};
    const iovec from{reinterpret_cast<void*>(page), kPageBytes};
    copied_ = 0;
    if (syscall(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0) != static_cast<long>(kPageBytes))
      return false;
    copied_ = page;
  }
  std::memcpy(&word, page_ + (address - page), sizeof word);
  return true;
}

std::size_t frames_below(const UnhookedCall& call, FrameMemory& memory, ChainedFrame* frames,
                         std::size_t most) {
  if (found_chain == nullptr) return 0;
  Walk walk(*found_chain, memory);
  if (!walk.begin(call.state)) return 0;
  const auto outermost = reinterpret_cast<std::uintptr_t>(call.frame);
  std::size_t count = 0, placed = 0;  // the rest's address is not known yet
  std::uintptr_t last = 0;
  // Ascending addresses on the stack: else the chain is not what it was taken for.
  const auto place = [&](std::uintptr_t address) {
    if (!memory.is_stack(address) || address < last) return false;
    last = address;
    for (; placed < count; ++placed) frames[placed].address = address;
    return true;
  };
  for (std::size_t step = 0; step < kMostSteps; ++step) {
    std::uintptr_t address = 0;
    if (walk.frame() == outermost) return walk.evaluation(address) && place(address) ? count : 0;
    if (!walk.is_evaluators() && count < most && !walk.code(frames[count++].code)) return 0;
    if (walk.ends_evaluation(address) && !place(address)) return 0;
    if (placed == most) return most;
    if (!walk.step()) return 0;
  }
  return placed;
}

bool finds_frames(const py::ThreadState* state) {
  py::Object* const caller = py::api.PyEval_GetFrame();  // borrowed
  if (caller == nullptr) return false;
  const Owned code(py::api.PyFrame_GetCode(caller));
  std::uint8_t page[FrameMemory::kPageBytes];
  FrameMemory memory(page, 0, 0);
  for (const Chain& row : kChains) {
    if (row.minor != py::layout->minor) continue;
    Walk walk(row, memory);
    const py::Object* found = nullptr;
    if (walk.begin(state) && walk.code(found) && found == code.get()) found_chain = &row;
  }
  return found_chain != nullptr;
}

bool describe_chain(const py::ThreadState* state, PythonFrames& frames) {
  if (py::layout->minor < kChains[0].minor) {
    frames.current = kFrameObject;
    frames.cframe = kNone;
    frames.previous = kFrameBack;
    frames.owner = kNone;
    return true;
  }
  if (found_chain == nullptr && !finds_frames(state)) return false;
  frames.current = static_cast<std::int16_t>(found_chain->current);
  frames.cframe = static_cast<std::int16_t>(found_chain->cframe_current);
  frames.previous = static_cast<std::int16_t>(found_chain->previous);
  frames.owner = static_cast<std::int16_t>(found_chain->owner);
  return true;
}

}  // namespace lotus
