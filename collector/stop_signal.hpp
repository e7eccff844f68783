// Asks the collector to end: by SIGTERM, SIGINT or SIGHUP, or from another thread.
#pragma once

#include <atomic>

#include "fd.hpp"

namespace lotus::collector {

class StopSignal {
 public:
  StopSignal();

  // From now on, the first signal calls ask() of this object, and the next one ends the program at once.
  void listen();
  void ask();  // async-signal-safe

  bool asked() const { return asked_.load(); }
  int fd() const { return event_.get(); }  // polls readable once asked

 private:
  Fd event_;
  std::atomic<bool> asked_{false};
};

}  // namespace lotus::collector
