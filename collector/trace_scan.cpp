#include "trace_scan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "packer.hpp"

namespace lotus::collector {
namespace {

// Limit of definitions in memory, in bytes: a small frame may decompress to very much. No collector writes as
// many.
constexpr std::uint64_t kMostInFrame = 4 * kLargeBody;
constexpr std::uint64_t kMostInTrace = std::uint64_t{128} << 20;

class Scanner {
 public:
  Scanner(int fd, std::uint64_t size) : fd_(fd), size_(size) {}

  ScannedTrace run(std::uint64_t at) {
    trace_.end = at;
    while (const auto found = find_frame(at)) {
      const std::uint64_t next = *found + sizeof(FrameHeader) + header_.stored_bytes;
      if (header_.type != FrameType::index && header_.type != FrameType::trailer) {
        trace_.damaged_bytes += *found - at;
        keep(*found);
        trace_.end = next;
      }
      at = next;
    }
    return std::move(trace_);
  }

 private:
  bool read_at(std::uint64_t at, void* target, std::size_t bytes) const {
    return pread(fd_, target, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
  }

  // A whole frame begins at `at`: its header is then in header_.
  bool frame_at(std::uint64_t at) {
    if (at > size_ || size_ - at < sizeof header_ || !read_at(at, &header_, sizeof header_)) return false;
    return header_.magic == kFrameMagic && header_.check == frame_check(header_) &&
           header_.stored_bytes <= size_ - at - sizeof header_;
  }

  // The next whole frame at or behind `at`.
  std::optional<std::uint64_t> find_frame(std::uint64_t at) {
    if (frame_at(at)) return at;
    std::vector<char> block(1 << 16);
    for (++at; at < size_; at += block.size() - sizeof kFrameMagic + 1) {
      const ssize_t got = pread(fd_, block.data(), block.size(), static_cast<off_t>(at));
      if (got < static_cast<ssize_t>(sizeof kFrameMagic)) return std::nullopt;
      const std::string_view text(block.data(), static_cast<std::size_t>(got));
      for (auto hit = text.find(magic_text()); hit != std::string_view::npos;
           hit = text.find(magic_text(), hit + 1))
        if (frame_at(at + hit)) return at + hit;
    }
    return std::nullopt;
  }

  static std::string_view magic_text() {
    return {reinterpret_cast<const char*>(&kFrameMagic), sizeof kFrameMagic};
  }

  void keep(std::uint64_t at) {
    trace_.index.push_back(
        {at, header_.base_ticks, header_.process, header_.stream, header_.events, header_.type, {}});
    const std::uint64_t body = at + sizeof header_;
    ScannedProcess& process = trace_.processes[header_.process];
    if (header_.type == FrameType::chunk) {
      auto& last = process.sequences[header_.stream];
      last = std::max(last, header_.sequence);
    } else if (header_.type == FrameType::definitions) {
      process.definitions_read = std::max(process.definitions_read, header_.sequence);
      keep_definitions(process, body);
    } else if (header_.type == FrameType::samples) {
      process.snapshots_read = std::max(process.snapshots_read, header_.sequence);
    } else if (header_.type == FrameType::process && header_.stored_bytes >= sizeof process.frame) {
      read_at(body, &process.frame, sizeof process.frame);
    } else if (header_.type == FrameType::process_end) {
      keep_end(process, body);
    }
  }

  void keep_definitions(ScannedProcess& process, std::uint64_t at) {
    const std::uint64_t bytes = std::max(header_.raw_bytes, header_.stored_bytes);
    if (bytes > kMostInFrame || bytes > kMostInTrace - unpacked_) return;
    std::vector<std::uint8_t> stored(header_.stored_bytes);
    if (!read_at(at, stored.data(), stored.size())) return;
    auto raw =
        header_.codec == Codec::raw ? std::optional(std::move(stored)) : unpack(stored, header_.raw_bytes);
    if (!raw) return;
    unpacked_ += raw->size();
    process.definitions.push_back({std::move(*raw), header_.base_ticks, header_.events});
  }

  void keep_end(ScannedProcess& process, std::uint64_t body) {
    ProcessEndFrame end{};
    if (header_.stored_bytes >= sizeof end && read_at(body, &end, sizeof end))
      process.lost_events = end.lost_events;
    process.ended = true;
    process.sequences.clear();
    // Its children may refer to them.
    if (unpacked_ <= kMostInTrace / 2) return;
    for (const DefinitionBody& definitions : process.definitions) unpacked_ -= definitions.bytes.size();
    process.definitions.clear();
  }

  int fd_;
  std::uint64_t size_;
  FrameHeader header_{};
  std::uint64_t unpacked_ = 0;  // bytes of the definitions that are held
  ScannedTrace trace_;
};

}  // namespace

ScannedTrace scan_trace(int fd, std::uint64_t size, std::uint32_t header_bytes) {
  ScannedTrace trace = Scanner(fd, size).run(header_bytes);
  trace.own_definitions = std::move(trace.processes[0].definitions);
  trace.processes.erase(0);  // frames of the whole trace
  return trace;
}

}  // namespace lotus::collector
