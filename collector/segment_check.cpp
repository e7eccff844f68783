#include "segment_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace lotus::collector {
namespace {

constexpr std::uint32_t kMaxSlots = 1u << 16;
constexpr std::uint32_t kMaxChunkBytes = 1u << 24;
constexpr std::uint32_t kMaxTickShift = 32;

template <class Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || text.front() == '+' || (text.front() == '0' && end != text.data() + 1))
    return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

struct Region {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

// The parts of a segment, in the order of their offsets; sizes cannot overflow (bounds were checked).
std::array<Region, 3 + kRings> regions(const SegmentHeader& header) {
  std::array<Region, 3 + kRings> all{
      Region{0, sizeof(SegmentHeader)},
      Region{header.slots_offset, std::uint64_t{header.slot_count} * sizeof(ThreadSlot)},
      Region{header.chunks_offset, std::uint64_t{header.slot_count} * header.chunk_bytes},
  };
  for (std::uint32_t i = 0; i < kRings; ++i)
    all[3 + i] = {header.ring_offset[i], header.ring_bytes[i] + sizeof(RingHeader)};
  std::sort(all.begin(), all.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
  return all;
}

std::string check_counts(const SegmentHeader& header) {
  if (header.slot_count == 0 || header.slot_count > kMaxSlots)
    return fmt::format("{} thread slots", header.slot_count);
  if (header.chunk_bytes == 0 || header.chunk_bytes > kMaxChunkBytes)
    return fmt::format("chunks of {} bytes", header.chunk_bytes);
  for (const std::uint64_t bytes : header.ring_bytes)
    if (bytes == 0 || bytes % kRingAlign != 0 || bytes > header.segment_bytes)
      return fmt::format("a ring of {} bytes", bytes);
  return {};
}

std::string check_layout(const SegmentHeader& header) {
  if (header.slots_offset % alignof(ThreadSlot) != 0) return "thread slots that are not aligned";
  for (const std::uint64_t offset : header.ring_offset)
    if (offset % kRingAlign != 0) return "a ring that is not aligned";
  std::uint64_t end = 0;
  for (const Region& region : regions(header)) {
    if (region.begin < end) return "parts that overlap";
    if (region.begin > header.segment_bytes || region.bytes > header.segment_bytes - region.begin)
      return "a part that reaches behind its end";
    end = region.begin + region.bytes;
  }
  return {};
}

std::string check_identity(const SegmentHeader& header, const SegmentFacts& facts) {
  if (header.segment_bytes != facts.file_bytes)
    return fmt::format("{} bytes where it says {}", facts.file_bytes, header.segment_bytes);
  if (header.pid != facts.name.pid || header.start_time != facts.name.start_time)
    return "another process in it than in its name";
  if (header.session_pid == 0) return "no session";
  if (header.clock_source != ClockSource::tsc && header.clock_source != ClockSource::monotonic)
    return "an unknown clock";
  if (header.tick_shift > kMaxTickShift) return fmt::format("a tick shift of {}", header.tick_shift);
  if (std::memchr(header.program, 0, sizeof header.program) == nullptr) return "a program name without end";
  if (std::memchr(header.output, 0, sizeof header.output) == nullptr) return "an output path without end";
  if (header.output[0] != '/') return "no absolute output path";
  return {};
}

}  // namespace

std::optional<SegmentName> parse_segment_name(std::string_view file) {
  SegmentName name;
  if (!take_number(file, name.pid) || !file.starts_with('-')) return std::nullopt;
  file.remove_prefix(1);
  if (!take_number(file, name.start_time) || name.pid == 0) return std::nullopt;
  if (file.starts_with('.') && file != kSegmentSuffix) {
    file.remove_prefix(1);
    if (!take_number(file, name.number) || name.number == 0) return std::nullopt;
  }
  if (file != kSegmentSuffix) return std::nullopt;
  return name;
}

SegmentVerdict check_segment(const SegmentHeader& header, const SegmentFacts& facts) {
  if (header.ready != kReady) return {Verdict::not_ready, {}};
  if (header.magic != kSegmentMagic) return {Verdict::damaged, "no segment's magic"};
  if (header.version != kSegmentVersion)
    return {Verdict::other_version, fmt::format("version {}", header.version)};
  if (header.schema_hash != kSchemaHash)
    return {Verdict::other_version, fmt::format("record schema {:016x}", header.schema_hash)};
  const bool same_namespace =
      header.pid_namespace == 0 || facts.pid_namespace == 0 || header.pid_namespace == facts.pid_namespace;
  if (!same_namespace) return {Verdict::elsewhere, {}};
  for (const auto& why : {check_identity(header, facts), check_counts(header)})
    if (!why.empty()) return {Verdict::damaged, why};
  if (const std::string why = check_layout(header); !why.empty()) return {Verdict::damaged, why};
  return {};
}

}  // namespace lotus::collector
