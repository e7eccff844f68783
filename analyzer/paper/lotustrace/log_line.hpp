// A line of the research system's logs: NAME,START_NS,DURATION_NS, without a heading; times of
// CLOCK_REALTIME.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lotus::analyzer::lotustrace {

enum class LineKind : std::uint8_t {
  op,            // S<ClassName>: one transform of one sample
  loader,        // SLoader
  transform,     // STransform: all transforms of one sample
  collation,     // SCollation
  preprocessed,  // SBatchPreprocessed_i: T1
  wait,          // SBatchWait_i: T2
  consumed,      // SBatchConsumed_i
  queued,        // SBatchQueued_i
  pinned,        // SBatchPinMemory_i
};

// The duration in lines that mean an instant, and in the wait of a batch that arrived out of order.
inline constexpr std::int64_t kInstantNs = 1000;

struct Line {
  LineKind kind{};
  std::string_view op;      // kind op: the class; a view into the text
  std::uint64_t batch = 0;  // kinds from `preprocessed` on
  std::int64_t start = 0, duration = 0;

  bool of_batch() const { return kind >= LineKind::preprocessed; }
  // Written by the training process; else by a worker.
  bool of_main() const { return kind >= LineKind::wait; }
  std::int64_t end() const { return start + duration; }
};

// The line without its end; none: `expected` says what should stand there.
std::optional<Line> parse_line(std::string_view text, std::string& expected);

// With its end. A class name holds no comma and no control character in a log: they become '_'.
std::string line_text(const Line& line);

}  // namespace lotus::analyzer::lotustrace
