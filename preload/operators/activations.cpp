#include "operators/activations.hpp"

#include "operators/call_chain.hpp"
#include "operators/code_tables.hpp"
#include "operators/lane_records.hpp"
#include "operators/own_frames.hpp"

namespace lotus {
namespace {

enum Resumed : std::uint64_t { kBegins = 0, kGoesOn = 1, kHadBegun = 2 };

struct Activation {
  std::uint64_t frame, code;
  KnownCode* known;           // nullptr: there was no room for its code
  CallChain::Joined joined;   // … with the parent of its places
  std::uint32_t place;        // its last place, …
  std::uint64_t instruction;  // … and where that is
};

constexpr std::uint32_t kMostActivations = 16 * 1024;
constexpr std::size_t kMostFound = 128;  // frames that are met at once without having been seen begin

// Of the one thread that trains.
struct Activations {
  Activation open[kMostActivations];
  std::uint32_t depth;
  std::uint64_t serial;  // of what is recorded, from 1
  std::uint64_t state;   // of the thread
  std::uint32_t below;   // the place of what called the outermost one
  std::uint32_t found;   // innermost activations that were met, and not seen to begin
  bool meets_caller;     // a step begins inside of a call, which is met later
};
constinit Activations all{};
constinit CallChain chain{};

std::uint32_t id_of(const Activation& activation) {
  return activation.known != nullptr ? activation.known->id : 0;
}

void put_call(Thread& thread, std::uint64_t now, const Activation& activation, std::uint32_t place,
              Resumed resumed) {
  put_at<Kind::python_call>(thread, now, std::uint64_t{id_of(activation)}, std::uint64_t{place},
                            std::uint64_t{resumed});
  ++lane_use.calls;
  if (activation.known == nullptr) lane_use.calls_missing = true;  // nobody will know which function it was
}

void open(std::uint64_t frame, std::uint64_t code, KnownCode* known, std::uint32_t place) {
  const std::uint32_t length = all.depth == 0 ? 0 : all.open[all.depth - 1].joined.length;
  all.open[all.depth++] = {frame, code, known, chain.join(length, known, place), 0, 0};
  if (known != nullptr) ++known->active;
}

void close_innermost() {
  const Activation& activation = all.open[--all.depth];
  chain.leave(activation.joined);
  if (activation.known != nullptr && activation.known->active > 0) --activation.known->active;
}

// Those that were left without telling: nobody saw them begin, or something else than return left them.
void close_down_to(Thread& thread, std::uint64_t now, std::uint32_t depth) {
  while (all.depth > depth) {
    close_innermost();
    put_at<Kind::python_return>(thread, now);
  }
}

// The place of the innermost activation's frame.
std::uint32_t place_of_innermost(const PythonFrames& layout) {
  if (all.depth == 0) return all.below;
  Activation& activation = all.open[all.depth - 1];
  const std::uint64_t instruction = instruction_in(layout, activation.frame);
  if (activation.instruction == instruction && activation.place != 0) return activation.place;
  if (activation.known == nullptr) return 0;
  activation.instruction = instruction;
  const FrameAt at{activation.frame, activation.code, instruction};
  const std::uint32_t called_at = activation.joined.called_at, code = activation.known->id;
  activation.place = place_of(layout, at, called_at, code, most_places());
  if (activation.place == 0) activation.place = place_of(layout, at, 0, code);  // at least the function's own
  return activation.place;
}

// The activation of a frame, from the innermost one outwards; the number of those that are not inside of it,
// itself among them; 0: there is none.
std::uint32_t depth_of(std::uint64_t frame) {
  constexpr std::uint32_t kMostLooks = 64;
  for (std::uint32_t i = 0; i < kMostLooks && i < all.depth; ++i)
    if (all.open[all.depth - 1 - i].frame == frame) return all.depth - i;
  return 0;
}

// The innermost activation is not that of `frame`: what is around it and was not
// seen to begin is opened, what is not around it any more is closed.
[[gnu::noinline]] bool follow(Thread& thread, const PythonFrames& layout, std::uint64_t frame) {
  std::uint64_t found[kMostFound];
  std::size_t count = 0;
  std::uint32_t depth = 0;
  for (; frame != 0 && count < kMostFound; frame = caller_of(layout, frame)) {
    depth = depth_of(frame);
    if (depth != 0) break;
    if (code_in(layout, frame) != 0) found[count++] = frame;
  }
  if (depth == 0) {  // other frames run on this stack: greenlets
    lane_use.calls_missing = true;
    return false;
  }
  const std::uint64_t now = ticks_now();
  close_down_to(thread, now, depth);
  all.found = static_cast<std::uint32_t>(count);
  while (count-- > 0 && all.depth < kMostActivations) {
    const std::uint64_t code = code_in(layout, found[count]);
    KnownCode* const known = known_code(layout, found[count], code);
    const std::uint32_t place = place_of_innermost(layout);
    open(found[count], code, known, place);
    put_call(thread, now, all.open[all.depth - 1], place, kHadBegun);
    if (!all.meets_caller) lane_use.calls_missing = true;
    all.meets_caller = false;
  }
  return true;
}

// Makes the innermost activation that of `frame`, which the thread executes. False: it cannot be.
bool is_at(Thread& thread, const PythonFrames& layout, std::uint64_t frame) {
  if (all.depth == 0 || frame == 0) return false;
  const Activation& innermost = all.open[all.depth - 1];
  if (innermost.frame == frame) {
    if (innermost.code == (word_in(frame, layout.code) & layout.pointer_mask)) [[likely]]
      return true;
    close_down_to(thread, ticks_now(), all.depth - 1);  // another one lies there now
  }
  return follow(thread, layout, frame);
}

// False: where threads run at once, calls are not recorded.
bool start(const py::ThreadState* state, std::uint32_t place) {
  end_activations();
  if (py::free_threaded) {
    lane_use.calls_missing = true;
    return false;
  }
  ++all.serial;
  all.state = reinterpret_cast<std::uint64_t>(state);
  all.below = place;
  all.found = 0;
  all.meets_caller = false;
  return true;
}

// The frames that are open around a step.
void adopt_open_frames(Thread& thread) {
  const PythonFrames* const layout = frame_layout();
  if (layout == nullptr) return;
  std::uint64_t frames[kMostFound];
  std::size_t count = 0;
  for (std::uint64_t frame = innermost_frame(*layout, all.state); frame != 0 && count < kMostFound;
       frame = caller_of(*layout, frame))
    if (code_in(*layout, frame) != 0) frames[count++] = frame;
  const std::uint64_t now = ticks_now();
  while (count-- > 0) {
    const std::uint64_t code = code_in(*layout, frames[count]);
    KnownCode* const known = known_code(*layout, frames[count], code);
    if (known != nullptr) tell_tables(*known, all.serial);
    const std::uint32_t place = place_of_innermost(*layout);
    open(frames[count], code, known, place);
    put_call(thread, now, all.open[all.depth - 1], place, kHadBegun);
  }
}

// Of the next calls of what was met, nobody shall miss the beginning. What was met may have ended unseen
// since then, and its code be gone: only what the thread still executes is looked at.
[[gnu::noinline]] void keep_found_visible(const PythonFrames& layout) {
  std::uint64_t frame = innermost_frame(layout, all.state);
  for (std::uint32_t i = 0; i < all.found && i < all.depth; ++i) {
    const Activation met = all.open[all.depth - 1 - i];
    std::size_t left = kMostFound;
    while (frame != 0 && frame != met.frame && left-- > 0) frame = caller_of(layout, frame);
    if (frame != met.frame || code_in(layout, frame) != met.code) break;
    keep_frame_visible(reinterpret_cast<const py::Frame*>(met.frame),
                       reinterpret_cast<py::Object*>(met.code));
    if (met.known != nullptr && met.known->code == met.code && !tables_are_told(*met.known))
      tell_tables(*met.known, all.serial);
  }
  all.found = 0;
}

// A frame that is about to be evaluated.
RecordedCall begin_activation(Thread& thread, const py::Frame* evaluated, py::Object* object, bool throwing) {
  const PythonFrames* const layout = frame_layout();
  if (layout == nullptr || all.depth == kMostActivations) {
    lane_use.calls_missing = true;
    return {};
  }
  const std::uint64_t now = ticks_now();
  const auto frame = reinterpret_cast<std::uint64_t>(evaluated);
  const auto code = reinterpret_cast<std::uint64_t>(object);
  std::uint32_t place = all.below;
  if (all.depth != 0)
    place = is_at(thread, *layout, innermost_frame(*layout, all.state)) ? place_of_innermost(*layout) : 0;
  if (all.found != 0 && py::api.PyErr_Occurred() == nullptr) keep_found_visible(*layout);
  KnownCode* const known = known_code(*layout, frame, code);
  if (known != nullptr && !tables_are_told(*known)) tell_tables(*known, all.serial);
  const bool generator = known != nullptr && known->is_generator;
  if (generator && !is_generators(*layout, frame)) return {};  // it is only made
  const bool goes_on = throwing || (generator && !is_at_beginning(*layout, frame, *known));
  const std::uint32_t depth = all.depth;
  open(frame, code, known, place);
  put_call(thread, now, all.open[depth], place, goes_on ? kGoesOn : kBegins);
  lane_use.call_ticks += ticks_now() - now;
  return {all.serial, depth};
}

}  // namespace

void begin_activations(const py::ThreadState* state) {
  Thread* const thread = recording_thread();
  if (thread == nullptr || !start(state, 0)) return;
  adopt_open_frames(*thread);
  all.meets_caller = true;
  see_every_call();
}

RecordedCall begin_region_activation(const py::ThreadState* state, const py::Frame* frame, py::Object* code,
                                     std::uint32_t place) {
  Thread* const thread = recording_thread();
  if (thread == nullptr || !start(state, place)) return {};
  const RecordedCall call = begin_activation(*thread, frame, code, false);
  see_every_call();
  return call;
}

void end_activations() {
  while (all.depth > 0) close_innermost();
  all.state = 0;
  see_no_more_calls();
}

std::uint32_t place_in_activation(Thread& thread) {
  const PythonFrames* const layout = frame_layout();
  if (layout == nullptr || all.state == 0) return 0;
  return is_at(thread, *layout, innermost_frame(*layout, all.state)) ? place_of_innermost(*layout) : 0;
}

RecordedCall record_call(py::ThreadState* state, const py::Frame* frame, py::Object* code, bool throwing,
                         bool unseen) {
  Thread* const thread = recording_thread();
  if (thread == nullptr || reinterpret_cast<std::uint64_t>(state) != all.state) {
    if (thread == nullptr) see_no_more_calls();
    return {};
  }
  if (unseen) lane_use.calls_missing = true;
  return begin_activation(*thread, frame, code, throwing);
}

void record_return(const RecordedCall& call) {
  if (call.serial == 0 || call.serial != all.serial || call.depth >= all.depth) return;
  Thread* const thread = recording_thread();
  if (thread == nullptr) return;
  const std::uint64_t now = ticks_now();
  close_down_to(*thread, now, call.depth);
  lane_use.call_ticks += ticks_now() - now;
}

}  // namespace lotus
