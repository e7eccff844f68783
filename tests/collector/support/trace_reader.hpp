// A strict reader of trace files, independent of the code of lotus-analyze and of the collector.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <lotus/trace.hpp>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace lotus::test {

struct Frame {
  std::uint64_t offset = 0;
  FrameHeader header{};
  std::vector<std::uint8_t> body;  // decompressed
};

struct Trace {
  std::string problem;  // empty: every byte of the file is accounted for
  FileHeader header{};
  std::vector<Frame> frames;

  bool closed() const { return !frames.empty() && frames.back().header.type == FrameType::trailer; }
  TrailerFrame trailer() const;  // all 0 if it is not closed
  std::size_t count(FrameType type) const;
  // Serial numbers of the `bytes` points, in file order, by (pid of the process frame, stream).
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> serials() const;
  // Ids of op_def records, by process number, in file order.
  std::map<std::uint32_t, std::vector<std::uint64_t>> definitions() const;
};

// Reads a trace. A file that is still being written may end within a frame: then `problem` says so, and the
// result has all complete frames.
Trace read_trace(const std::string& path);

// Checks the invariants of a closed trace (schema first, process frames before their chunks, complete and
// correct index, trailer's numbers); returns a description of the first violation.
std::string what_is_wrong(const Trace& trace);

// 1, 2, … n
std::vector<std::uint64_t> up_to(std::uint64_t n);

}  // namespace lotus::test
