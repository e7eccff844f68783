// The map: which native functions each operation runs, from its stack samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "answers/stacks/frame_table.hpp"
#include "answers/stacks/own_time.hpp"
#include "answers/stacks/profile.hpp"
#include "answers/stats/interval.hpp"

namespace lotus::analyzer {

// A native function is listed under an operation if this many samples hit it there, and the lower bound of
// the 95 % interval of its share is above min_share (in [0, 1]).
struct ListingRule {
  std::uint64_t min_samples = 2;
  double min_share = 0.0005;
};

struct FunctionShare {
  NamedFrame frame;
  std::string under;  // see named_caller(): the one with most of the CPU time; empty: none
  Tally self, total;  // samples where it was innermost; where it was anywhere in the stack
  double share = 0;   // of self in the operation's CPU time, in [0, 1]
  Bounds interval;    // 95 %
  bool listed = false;
  std::optional<EntryPoint> exact;  // counts of a hook on the function, in the operation
};

struct OpMap {
  OpKey op;
  std::uint64_t calls = 0;
  double wall_ns = 0;
  Tally all;     // all samples but the tracer's own: the base of shares
  Tally tracer;  // the innermost function was the tracer's
  Tally interpreter;
  Tally unnamed;  // their stacks' definitions are lost
  std::uint64_t on_behalf = 0, cut = 0;
  std::vector<FunctionShare> functions;  // native ones, largest self first
  std::vector<FunctionShare> python;     // Python ones; self: what the interpreter did for them
  EntryPoints entry_points;

  // The smallest share that was sampled at least once with 95 % probability.
  double smallest() const { return smallest_seen(all.effective()); }
  // How many times longer a run must be to sample a share of 1 % with that probability; at most 1: this run
  // is long enough. None: nothing was sampled.
  std::optional<double> runs_for_one_percent() const;
};

struct FunctionMap {
  std::vector<std::string> files;
  SamplingFacts sampling;  // of all traces; hz: the highest
  double duration_ns = 0;  // first to last record, summed over the traces
  Tally tracer, inside;    // samples in operations: the tracer's own, and all
  Tally outside;           // samples in no operation
  ListingRule rule;
  std::vector<OpMap> ops;  // most CPU time first
};

class MapBuilder {
 public:
  // `profile` has visited `trace`.
  void add(const Trace& trace, const Profile& profile, const Reading& reading);
  // The map; the builder is empty afterwards.
  FunctionMap take(const ListingRule& rule);

 private:
  struct Tallies {
    Tally self, total;
    Callers callers;
  };
  struct Building {
    OpMap map;
    std::unordered_map<FrameId, Tallies> frames;
  };
  void add_op(const OpKey& key, const OpProfile& profile, StackNames& names);
  void add_stack(Building& op, const std::vector<FrameId>& frames, const Tally& tally);
  void finish(Building& building, const ListingRule& rule) const;

  FrameTable frames_;
  FunctionMap map_;
  std::map<OpKey, Building> ops_;
};

}  // namespace lotus::analyzer
