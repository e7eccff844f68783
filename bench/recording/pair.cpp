// ns and bytes per pair of enter and leave, including compression and hand-over: runs the recorder of
// liblotus.so in this process, with a thread that drains its rings like the collector.
//
//   bench-pair [PAIRS]      default 20,000,000; segments in a directory of its own under /dev/shm
//
// Lengths of operations are pseudo-random, as equal lengths would compress too well.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "own_segment.hpp"

namespace {

std::atomic<bool> stop{false};
std::uint64_t stored_bytes = 0;
std::uint64_t events = 0;

void drain(lotus::RingReader reader) {
  lotus::RingRecord record;
  const std::uint8_t* payload = nullptr;
  for (;;) {
    const bool last = stop.load();
    while (reader.next(record, payload) == lotus::RingReader::Next::record) {
      stored_bytes += record.stored_bytes;
      events += record.events;
      reader.release(record);
    }
    if (last) return;
    usleep(1000);
  }
}

// An operation of varying length.
inline std::uint32_t vary(std::uint32_t& state) {
  for (std::uint32_t rounds = 1 + state % 64; rounds > 0; --rounds) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
  return state;
}

template <class Body>
double ns_per(std::uint64_t count, Body&& body) {
  const std::uint64_t begin = lotus::clock_ns(CLOCK_MONOTONIC);
  for (std::uint64_t i = 0; i < count; ++i) body(i);
  return static_cast<double>(lotus::clock_ns(CLOCK_MONOTONIC) - begin) / static_cast<double>(count);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t pairs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000'000;
  if (pairs == 0) return 2;
  const OwnSegment segment;
  if (!segment.made()) return 1;
  const lotus::SegmentHeader& header = segment.header();
  std::thread reader(drain, segment.ring(lotus::kEventRing));
  std::uint32_t state = 2463534242;
  volatile std::uint32_t sink = 0;
  const double empty = ns_per(pairs, [&](std::uint64_t) { sink = vary(state); });
  const double full = ns_per(pairs, [&](std::uint64_t) {
    const lotus::Span span = lotus::enter<lotus::Kind::op>(sink % 7 + 1);
    sink = vary(state);
    lotus::leave(span, lotus::Kind::leave);
  });
  const double clock =
      ns_per(pairs, [&](std::uint64_t) { sink = static_cast<std::uint32_t>(lotus::ticks_now()); });
  stop = true;
  reader.join();
  std::printf("ns per Enter/Leave pair   %.1f  (of which two clock reads %.1f)\n", full - empty, 2 * clock);
  std::printf("compressed bytes an event %.2f\n",
              static_cast<double>(stored_bytes) / static_cast<double>(events));
  std::printf("lost events               %llu\n", static_cast<unsigned long long>(header.lost_events));
  std::printf("shared memory a process   %.2f MiB\n", static_cast<double>(header.segment_bytes) / (1 << 20));
  return 0;
}
