#include "answers/stacks/flame.hpp"

#include <algorithm>

namespace lotus::analyzer {

// A stack without a Python function keeps CPython's frames, since nothing else shows what ran.
std::vector<FrameId> FlameBuilder::shown(std::span<const FrameId> stack) const {
  std::vector<FrameId> frames(stack.rbegin(), stack.rend());
  if (everything_ || frames.empty()) return frames;
  const auto part = [&](FrameId frame) { return frames_[frame].part; };
  const bool python =
      std::any_of(frames.begin(), frames.end(), [&](FrameId f) { return part(f) == Part::python; });
  const bool tracer_ran = owner_of(stack, frames_).part == Part::tracer;
  std::erase_if(frames, [&](FrameId f) {
    return (part(f) == Part::interpreter && python) || (part(f) == Part::tracer && !tracer_ran);
  });
  return frames;
}

// The function that waited is the innermost frame.
void FlameBuilder::add_waits(const std::string& shown_op, const OpProfile& op, StackNames& names) {
  for (const auto& [where, tally] : op.waits) {
    std::vector<FrameId> frames = shown(names.frames_of(where.first));
    NamedFrame waiting;
    waiting.name = where.second;
    waiting.library = "libc.so.6";
    frames.push_back(frames_.intern(waiting));
    ops_[shown_op][std::move(frames)] += tally.ns;
  }
}

void FlameBuilder::add(const Trace& trace, const Profile& profile) {
  StackNames names(trace.stacks, frames_);
  NamedFrame missing;
  missing.name = kCutOff;
  const FrameId cut_off = frames_.intern(missing);
  if (time_ == FlameTime::waiting) {
    for (const auto& [key, op] : profile.ops()) add_waits(std::string(key.shown()), op, names);
    return;
  }
  for (const auto& [key, op] : profile.ops()) {
    auto& stacks = ops_[std::string(key.shown())];
    for (const auto& [stack, tally] : op.stacks) {
      const std::vector<FrameId> known = names.frames_of(stack);
      std::vector<FrameId> frames = shown(known);
      if (tally.whole.samples > 0) stacks[frames] += tally.whole.cpu_ns;
      if (tally.cut.samples == 0) continue;
      // Where the native frames were cut off, the Python functions outside of the last one are still known.
      const auto outside = std::find_if_not(known.rbegin(), known.rend(),
                                            [&](FrameId f) { return frames_[f].part == Part::python; });
      frames.insert(frames.begin() + (outside - known.rbegin()), cut_off);
      stacks[std::move(frames)] += tally.cut.cpu_ns;
    }
  }
}

std::vector<FlameOp> FlameBuilder::take() {
  std::vector<FlameOp> ops;
  for (auto& [name, stacks] : ops_) {
    FlameOp op{name, {}, 0};
    for (auto& [frames, ns] : stacks) {
      op.ns += ns;
      op.stacks.push_back({frames, ns});
    }
    if (!op.stacks.empty()) ops.push_back(std::move(op));
  }
  ops_.clear();
  std::stable_sort(ops.begin(), ops.end(), [](const FlameOp& a, const FlameOp& b) { return a.ns > b.ns; });
  return ops;
}

}  // namespace lotus::analyzer
