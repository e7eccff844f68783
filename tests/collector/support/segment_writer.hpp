// Makes segments like a traced process. Written from the contract alone, without liblotus.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <lotus/ring.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lotus::test {

struct SegmentPlan {
  std::string directory;
  std::string output;
  std::uint32_t pid = 0;          // 0: the calling process
  std::uint64_t start_time = 0;   // 0: that of pid
  std::uint32_t session_pid = 0;  // 0: pid
  std::uint64_t session_start_time = 0;
  std::uint32_t slots = 4;
  std::uint32_t chunk_bytes = 4096;
  std::uint64_t ring_bytes[kRings] = {std::uint64_t{64} << 10, std::uint64_t{64} << 10,
                                      std::uint64_t{64} << 10};
};

std::uint64_t start_time_of(std::uint32_t pid);  // 0 if there is none
// The pid and start time of an ended process.
std::pair<std::uint32_t, std::uint64_t> dead_process();

class SegmentWriter {
 public:
  explicit SegmentWriter(const SegmentPlan& plan);
  ~SegmentWriter();  // unmaps; the file stays
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  SegmentHeader& header() { return *header_; }
  ThreadSlot& slot(std::uint32_t index);
  std::uint8_t* chunk(std::uint32_t index);
  RingHeader& ring(RingIndex index);
  RingWriter writer(RingIndex index);
  const std::string& path() const { return path_; }

  // Writes an `op_def` with this id; false if the ring is full.
  bool define(std::uint64_t id, std::string_view name, std::uint64_t ticks);

 private:
  std::string path_;
  std::uint64_t bytes_ = 0;
  SegmentHeader* header_ = nullptr;
};

// A thread that records `bytes` points with a serial number as their count, so that a reader can identify
// them. Waits while the ring is full, so nothing is lost.
class ThreadWriter {
 public:
  ThreadWriter(SegmentWriter& segment, std::uint32_t slot, std::uint32_t stream);

  void record(std::uint64_t serial);
  void flush();
  // Like flush(), but stops between "record committed" and "used = 0", as if killed there.
  void flush_half();
  // Like flush(), but does not wait: with a full ring the records count as lost.
  bool try_flush();

  std::uint64_t next_ticks() { return ticks_ += 10; }

 private:
  bool push();
  void start_chunk();

  SegmentWriter& segment_;
  ThreadSlot& slot_;
  std::uint8_t* chunk_;
  std::uint8_t* cursor_;
  std::uint64_t ticks_;
  std::uint64_t last_;
};

// Encodes records with these serial numbers, each 10 ticks after the one before.
std::vector<std::uint8_t> encode_serials(const std::vector<std::uint64_t>& serials);

}  // namespace lotus::test
