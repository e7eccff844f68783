// The parts of a trace that could not be read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lotus::analyzer {

struct DamagedRange {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;
  std::string what;
};

// Counts all, keeps the first few to show.
struct Damage {
  static constexpr std::size_t kKept = 32;

  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;  // that the headers of damaged chunks promise
  std::vector<DamagedRange> ranges;

  void add(DamagedRange range) {
    ++count;
    bytes += range.bytes;
    if (ranges.size() < kKept) ranges.push_back(std::move(range));
  }
};

}  // namespace lotus::analyzer
