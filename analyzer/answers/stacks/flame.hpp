// The stacks of each operation, for flame graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/stacks/frame_table.hpp"
#include "answers/stacks/profile.hpp"

namespace lotus::analyzer {

// What is drawn: CPU time as sampled, or each wait of 10 ms and more inside of fetches.
enum class FlameTime : std::uint8_t { cpu, waiting };

struct FlameStack {
  std::vector<FrameId> frames;  // outermost first
  double ns = 0;
};

struct FlameOp {
  std::string name;                // operations of the same name are merged; outside of all: kOutsideOps
  std::vector<FlameStack> stacks;  // sorted by frames, each once
  double ns = 0;
};

// Stands for the native callers that are missing where a stack was cut off.
inline constexpr std::string_view kCutOff = "(cut off)";

// Merges the profiles of any number of traces. Frames of CPython are left out if a Python function represents
// them, and frames of liblotus.so if they only pass a call on; `everything` keeps both.
class FlameBuilder {
 public:
  FlameBuilder(FlameTime time, bool everything) : time_(time), everything_(everything) {}

  // `profile` has visited `trace`.
  void add(const Trace& trace, const Profile& profile);
  // Most time first; the builder is empty afterwards.
  std::vector<FlameOp> take();
  const FrameTable& frames() const { return frames_; }

 private:
  std::vector<FrameId> shown(std::span<const FrameId> innermost_first) const;
  void add_waits(const std::string& shown_op, const OpProfile& op, StackNames& names);

  FlameTime time_;
  bool everything_;
  FrameTable frames_;
  std::map<std::string, std::map<std::vector<FrameId>, double>> ops_;
};

using WriteText = std::function<void(std::string_view)>;

// One line a stack: "operation;outermost;…;innermost N", N: time in µs. The input format of
// flamegraph.pl, inferno and others.
void write_folded(const std::vector<FlameOp>& ops, const FrameTable& frames, const WriteText& write);

// speedscope's JSON: one sampled profile an operation, weights in ns.
void write_speedscope(const std::vector<FlameOp>& ops, const FrameTable& frames, const std::string& name,
                      const WriteText& write);

}  // namespace lotus::analyzer
