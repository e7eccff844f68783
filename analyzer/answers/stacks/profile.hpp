// The stack samples of a trace, and the exact counts of the operations that they hit. Memory grows with the
// distinct stacks of each operation, not with the samples.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "answers/stacks/entry_point.hpp"
#include "answers/stacks/tally.hpp"
#include "reading/model/reading.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// The name for samples outside of all operations.
inline constexpr std::string_view kOutsideOps = "(outside operations)";

// A filter: the part of a trace that is wanted.
struct ProfileFilter {
  std::optional<std::string> op;        // name of an operation, or kOutsideOps
  std::optional<std::uint64_t> worker;  // id of a DataLoader worker
};

// An operation in all processes. The name is empty for runners and outside of all operations.
struct OpKey {
  OpRole role = OpRole::transform;
  std::string name, qualified;

  bool outside() const { return name.empty(); }
  std::string_view shown() const { return outside() ? kOutsideOps : std::string_view(name); }
  auto operator<=>(const OpKey&) const =
      default;  // NOLINT(modernize-use-nullptr): a false one, of clang-tidy 14
};

// What a runner that does nothing but call its operations takes itself is less than this share: of the time
// in which batches are made, or of its samples.
inline constexpr double kLeastOfRunner = 0.02;

using EntryPoints = std::map<std::pair<std::string, std::string>, EntryPoint>;  // by name and library

// The samples of one stack: those whose stack reaches up to the operation, and those where it was cut off.
struct StackTally {
  Tally whole, cut;
  Tally making;  // of both: while a batch was being made

  Tally all() const {
    Tally sum = whole;
    sum.add(cut);
    return sum;
  }
};

// Waits of 10 ms and more in one function of libc.
struct WaitTally {
  std::uint64_t count = 0;
  double ns = 0, longest = 0;

  void add(double wait) {
    ++count;
    ns += wait;
    longest = std::max(longest, wait);
  }
  void add(const WaitTally& other) {
    count += other.count;
    ns += other.ns;
    longest = std::max(longest, other.longest);
  }
};

struct OpProfile {
  Tally all;
  std::uint64_t on_behalf = 0;  // samples of helping threads, which have no operations of their own
  std::uint64_t cut = 0;        // samples whose stack does not reach up to the operation
  Tally telling, collecting;    // samples that tell of Python's garbage collector; those in it
  std::unordered_map<std::uint64_t, StackTally> stacks;  // by id
  // By the id of a stack and the function that waited, which is not in the stack.
  std::map<std::pair<std::uint64_t, std::string>, WaitTally> waits;
  std::uint64_t calls = 0;                 // that ended
  std::uint64_t calls_with_operators = 0;  // of these: PyTorch's operators were counted inside
  double wall_ns = 0;                      // of `calls`
  double wall_with_operators_ns = 0;       // of `calls_with_operators`
  EntryPoints entry_points;                // called by the operation itself, not by nested ones
  EntryPoints operators;                   // PyTorch's operators, in `calls_with_operators` only

  // Entry points and operators, the latter scaled to all calls.
  EntryPoints all_entry_points() const;
};

// How a trace was sampled.
struct SamplingFacts {
  bool known = false;                    // a traced process said how
  std::uint64_t hz = 0;                  // 0: off
  std::uint64_t samples = 0;             // that were read, whatever the filter
  std::uint64_t lost = 0;                // no room for them, or in damaged frames
  std::uint64_t without_end = 0;         // in calls whose end is not in the file
  bool cut = false;                      // the file ends too soon
  std::optional<TimersRefused> refused;  // of a process
};

class Profile : public Visitor {
 public:
  // `trace` outlives the profile.
  explicit Profile(const Trace& trace, ProfileFilter filter = {});

  bool wants_stacks() const override { return true; }
  void on_stack_sample(const Process& process, const Record& record, std::uint64_t ticks) override;
  void on_off_cpu(const Process& process, const Record& record, std::uint64_t ticks) override;
  void on_span(const Span& span) override;
  void on_native(const Stream& stream, const Record& record) override;

  // The CPU time in ns that a sample stands for.
  double ns_of(const Process& process, const Record& record) const;

  // After the visit.
  SamplingFacts facts(const Reading& reading) const;
  const std::map<OpKey, OpProfile>& ops() const { return ops_; }
  // Names of all operations, wanted or not, and kOutsideOps if there are samples outside; ids of all workers.
  const std::set<std::string>& op_names() const { return op_names_; }
  std::set<std::uint64_t> worker_ids() const;

 private:
  OpProfile* profile_of(const Process& process, const Op* op);
  bool wanted(const Process& process, const OpKey& key) const;
  double period_of(const Process& process) const;

  const Trace& trace_;
  ProfileFilter filter_;
  double usual_period_ = 0;  // ns, for processes whose definition is lost
  std::uint64_t samples_ = 0, without_end_ = 0;
  std::map<OpKey, OpProfile> ops_;
  std::set<std::string> op_names_;
  std::map<std::pair<const Process*, const Op*>, OpProfile*> slots_;  // nullptr: not wanted
};

}  // namespace lotus::analyzer
