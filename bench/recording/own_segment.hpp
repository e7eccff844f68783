// A segment for this process to record into, without a collector.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <lotus/ring.hpp>

#include "life/config.hpp"
#include "life/session.hpp"
#include "record/recorder.hpp"
#include "sampling/sampler.hpp"

// A segment in its own directory under /dev/shm; the destructor removes both. Only one can exist at a time.
class OwnSegment {
 public:
  enum class Samples : bool { no, yes };  // whether this thread's stack is sampled
  explicit OwnSegment(Samples samples = Samples::no) {
    if (mkdtemp(directory_) == nullptr) return;
    setenv("LOTUS_DIR", directory_, 1);
    setenv("LOTUS_AUTOSTART", "0", 1);
    setenv("LOTUS_OUTPUT", "/dev/null", 1);
    lotus::read_config();
    lotus::choose_clock();
    if (samples == Samples::yes) lotus::want_samples(lotus::config.sampling);
    lotus::leave(lotus::enter<lotus::Kind::fetch>(0, 0, 0), lotus::Kind::leave);
  }
  ~OwnSegment() {
    if (made()) unlink(lotus::process.segment.path);
    rmdir(directory_);
  }
  OwnSegment(const OwnSegment&) = delete;
  OwnSegment& operator=(const OwnSegment&) = delete;

  bool made() const { return lotus::process.segment.header != nullptr; }
  const lotus::SegmentHeader& header() const { return *lotus::process.segment.header; }
  lotus::RingReader ring(lotus::RingIndex index) const {
    auto* base = reinterpret_cast<std::uint8_t*>(lotus::process.segment.header);
    return {reinterpret_cast<lotus::RingHeader*>(base + header().ring_offset[index]),
            header().ring_bytes[index]};
  }

 private:
  char directory_[sizeof "/dev/shm/lotus-bench-XXXXXX"] = "/dev/shm/lotus-bench-XXXXXX";
};
