// Reads trace files for the tests, strictly: independent of lotus-analyze and of the collector's code.
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

// A file that is still being written may end in a half frame: then `problem` says so and all whole
// frames are there.
Trace read_trace(const std::string& path);

// Checks what every closed trace must fulfil (schema first, process frames before their chunks, index
// complete and right, trailer's numbers); returns the first thing that is wrong.
std::string what_is_wrong(const Trace& trace);

// 1, 2, … n
std::vector<std::uint64_t> up_to(std::uint64_t n);

}  // namespace lotus::test
