// What counting asks of the kernel and of the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/counters.hpp>

#include "counters/event_page.hpp"

namespace lotus {

// The kernel's part, which tests play. perf_event_open(2) for the calling thread on any core: a descriptor,
// or -1 with errno; read(2); the number of an event, false: the descriptor is none of an event; its page, or
// nullptr.
struct PerfKernel {
  int (*open)(const CounterRow& row, bool user_only, int leader);
  long (*read)(int descriptor, void* to, std::size_t bytes);
  bool (*number)(int descriptor, std::uint64_t& number);
  const EventPage* (*map)(int descriptor);
  void (*unmap)(const EventPage* page);
  ProcessorCounters processor;
};
extern PerfKernel perf_kernel;

}  // namespace lotus
