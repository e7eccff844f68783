// What calls of a native entry point took and moved.
#pragma once

#include <cstdint>

namespace lotus::analyzer {

struct EntryPoint {
  std::uint64_t calls = 0;
  double ns = 0;
  double bytes = 0;

  void add(const EntryPoint& other) {
    calls += other.calls;
    ns += other.ns;
    bytes += other.bytes;
  }
};

}  // namespace lotus::analyzer
