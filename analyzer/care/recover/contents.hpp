// The readable contents of a damaged trace, found by reading all of its bytes once.
#pragma once

#include <cstdint>
#include <lotus/trace.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "care/recover/inspection.hpp"
#include "care/recover/losses.hpp"
#include "reading/trace/damage.hpp"
#include "reading/trace/source.hpp"

namespace lotus::analyzer {

// A frame that goes into the recovered trace.
struct Kept {
  std::uint64_t offset = 0;      // of its header in the damaged file
  std::uint64_t lost_here = 0;   // events lost between it and the chunk before
  std::uint32_t body_bytes = 0;  // usable bytes
  std::uint32_t events = 0;      // in them
};

struct ProcessFacts {
  std::uint32_t pid = 0, parent_pid = 0;
  bool has_frame = false, has_end = false;
  std::size_t first_kept = 0;
};

class Contents {
 public:
  // Reads all of `source`. Throws Unusable if it contains no part of a trace.
  explicit Contents(const Source& source);

  const FileHeader& header() const { return header_; }
  bool header_damaged() const { return header_damaged_; }
  bool has_schema() const { return has_schema_; }
  // The trace's own; if that is lost, this program's.
  const FileSchema& schema() const { return inspector_.schema(); }
  bool has_index() const { return has_index_; }
  const std::optional<TrailerFrame>& trailer() const { return trailer_; }
  const std::vector<Kept>& kept() const { return kept_; }
  const std::map<std::uint32_t, ProcessFacts>& processes() const { return processes_; }
  const Losses& losses() const { return losses_; }
  // Byte ranges that could not be used.
  const Damage& damage() const { return damage_; }
  // The latest calibration pair.
  ClockPair latest() const { return pairs_.empty() ? header_.created : *pairs_.rbegin(); }

 private:
  struct ByTicks {
    bool operator()(const ClockPair& a, const ClockPair& b) const { return a.ticks < b.ticks; }
  };

  std::uint64_t read_header(const Source& source);
  void scan(const Source& source, std::uint64_t begin);
  void take(const Frame& frame);
  void take_usable(const Frame& frame, const Inspected& found);
  void take_process(const Frame& frame, const Inspected& found);
  void name_process(const Frame& frame, const Inspected& found);
  void keep(const Frame& frame, const Inspected& found);
  void damaged(const Frame& frame, std::uint64_t bytes, const std::string& problem);
  void add_pair(const ClockPair& pair);
  void rebuild_header();
  void settle();

  Inspector inspector_;
  FileHeader header_{};
  bool header_damaged_ = false;
  bool has_schema_ = false, has_index_ = false;
  std::optional<TrailerFrame> trailer_;
  std::vector<Kept> kept_;
  std::map<std::uint32_t, ProcessFacts> processes_;
  std::set<ClockPair, ByTicks> pairs_;
  Losses losses_;
  Damage damage_;
};

}  // namespace lotus::analyzer
