// Checks whether a segment header can be used. Pure: no file, no mapping.
#pragma once

#include <cstdint>
#include <lotus/events.hpp>
#include <lotus/segment.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lotus::collector {

// <pid>-<start time>[.<number>].segment
struct SegmentName {
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;
  std::uint32_t number = 0;  // programs that the process executed before, 0 if none recorded
};
std::optional<SegmentName> parse_segment_name(std::string_view file);

inline constexpr std::uint64_t kMinSegmentBytes = 4096;
inline constexpr std::uint64_t kMaxSegmentBytes = std::uint64_t{1} << 28;

enum class Verdict : std::uint8_t {
  good,
  not_ready,      // not complete yet, or its process died before it was
  other_version,  // made by another version of Lotus
  elsewhere,      // of another pid namespace
  damaged,
};

struct SegmentFacts {
  SegmentName name;
  std::uint64_t file_bytes = 0;
  std::uint64_t pid_namespace = 0;  // ours; 0 unknown
};

struct SegmentVerdict {
  Verdict verdict = Verdict::good;
  std::string why;  // for other_version and damaged
};

// Checks a private copy of a header. After `good`, all offsets and counts in it lie within the file and
// do not overlap, and its texts are NUL-terminated.
SegmentVerdict check_segment(const SegmentHeader& header, const SegmentFacts& facts);

}  // namespace lotus::collector
