// Creates trace files without a traced program: for imports, generators and tests.
//
// It is here and not in include/lotus, which must neither allocate nor depend on zstd. The collector has a
// writer of its own with another purpose: it appends chunks as traced processes compressed them, to a file
// that must stay readable whatever happens.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <lotus/trace.hpp>
#include <memory>
#include <span>
#include <vector>

#include "reading/trace/frame_writer.hpp"

struct ZSTD_CCtx_s;

namespace lotus::analyzer {

using Bytes = std::vector<std::uint8_t>;

// Frames, one after the other, into `bytes`. Ticks are ns unless another clock is asked for.
class TraceWriter {
 public:
  Bytes bytes;          // the file so far, but for what the caller has taken out
  FileHeader header{};  // as it was written
  Codec codec = Codec::zstd;

  // `created`: the first calibration pair. `session_pid`: of the first process of the session.
  explicit TraceWriter(ClockPair created, ClockSource source = ClockSource::monotonic,
                       std::uint32_t tick_shift = 0, std::uint32_t session_pid = 100);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  ~TraceWriter();

  // Throws std::runtime_error if zstd fails (out of memory).
  void frame(FrameHeader head, std::span<const std::uint8_t> body);
  void process(std::uint32_t number, std::uint32_t pid, std::uint32_t parent, ClockPair created);
  void clock(ClockPair pair);
  void process_end(std::uint32_t number, const ProcessEndFrame& end);
  // The last frame. There is no index: readers find the frames by walking.
  void trailer(ClockPair closed);

  template <Kind K, class... Values>
  void define(std::uint32_t process, std::uint64_t ticks, const Values&... values) {
    Bytes body(encoded_bound<K>(values...));
    body.resize(static_cast<std::size_t>(encode<K>(body.data(), 0, values...) - body.data()));
    FrameHeader head = frame_header(FrameType::definitions, process);
    head.base_ticks = ticks;
    head.events = 1;
    frame(head, body);
  }

 private:
  Bytes compressed(std::span<const std::uint8_t> body);

  ZSTD_CCtx_s* context_;
};

}  // namespace lotus::analyzer
