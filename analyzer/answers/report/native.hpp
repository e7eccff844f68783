// Collects what runs inside of operations: the native functions that samples hit, and the files that were
// read.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "answers/report/file_formats.hpp"
#include "answers/report/findings.hpp"
#include "answers/stacks/own_time.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

class NativeCollector {
 public:
  // begin() and end() enclose the visits of one trace.
  void begin(const Trace& trace);
  void end();

  void on_stack_sample(const Process& process, const Record& record, std::uint64_t ticks) {
    profile_->on_stack_sample(process, record, ticks);
  }
  void on_off_cpu(const Process& process, const Record& record, std::uint64_t ticks) {
    profile_->on_off_cpu(process, record, ticks);
  }
  void on_native(const Stream& stream, const Record& record);

  // ns that counting native entry points took in the current trace, estimated; before end().
  double cost() const { return cost_; }

  // The CPU time in ns that a sample stands for, in the current trace.
  double ns_of_sample(const Process& process, const Record& record) const {
    return profile_->ns_of(process, record);
  }

  // Of an operation in all traces.
  NativeFinding finding_of(const Op& op) const;
  // What fetches call outside of all operations, by CPU time, in all traces.
  std::vector<OwnFunction> own_functions() const;
  // Where fetches waited, longest in all first, in all traces.
  std::vector<WaitFinding> waits() const;
  // The share of fetches' CPU time, in [0, 1], in functions that open and parse files of a format. None: none
  // of these was sampled.
  std::optional<double> share_of_format(std::size_t format) const;
  // The same in Python's garbage collector. None: few samples, or they do not tell.
  std::optional<double> share_collecting() const;
  double read_in_fetches() const { return read_; }  // bytes

 private:
  struct Sums : OwnTime {
    FileIo io;
  };
  struct HookFacts {
    bool reads_files = false, maps_files = false;
    double pairs = 1;  // cost of a call, in Enter/Leave pairs
  };
  const HookFacts& facts_of(const Hook& hook);

  struct OwnSums {
    double ns = 0;
    std::uint64_t samples = 0;
    std::map<FrameId, double> inside;  // native functions, ns
  };
  // Of all samples inside of fetches: what opens and parses files.
  struct Parsing {
    Tally all;
    std::array<double, kFileFormats> ns{};
  };
  Tally of_fetches(const StackTally& tally, const std::vector<FrameId>& path) const;
  void add_parsing(const OpKey& key, const OpProfile& profile, StackNames& names);
  void add_own_code(const OpProfile& outside, StackNames& names);
  void add_waits(const OpKey& key, const OpProfile& profile, StackNames& names);
  std::optional<FrameId> place_of(const std::vector<FrameId>& stack) const;

  const Trace* trace_ = nullptr;
  std::unique_ptr<Profile> profile_;
  std::unordered_map<const Op*, FileIo> io_;          // of the current trace
  std::unordered_map<const Hook*, HookFacts> hooks_;  // of the current trace
  double cost_ = 0;
  FrameTable frames_;
  std::map<OpKey, Sums> ops_;
  std::map<FrameId, OwnSums> own_code_;  // by Python function
  Parsing parsing_;
  struct {
    Tally telling, in_it;  // samples of threads that make batches
  } collecting_;
  struct WaitPlace {
    OpKey op;
    std::optional<FrameId> function, innermost;
    std::string call;
    auto operator<=>(const WaitPlace&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  std::map<WaitPlace, WaitTally> waits_;
  double read_ = 0;
};

}  // namespace lotus::analyzer
