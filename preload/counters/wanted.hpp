// Which counters LOTUS_COUNTERS asks for, and which of them the kernel refuses.
#pragma once

#include <lotus/counters.hpp>

#include "system/hot.hpp"

namespace lotus {

struct WantedCounter {
  CounterRow row;
  bool user_only;  // of perf: what the kernel does for the thread is not counted, it does not permit it
  int error;       // of perf: an errno, why it is not counted; 0: it is
};

struct WantedCounters {
  bool tried;  // the kernel was asked for them
  std::size_t count;
  WantedCounter of[kMaxCounters];
};
extern WantedCounters wanted_counters;

// Whether anything is counted in this process.
LOTUS_DIRECT extern bool counters_on;

// Takes the value of LOTUS_COUNTERS. nullptr, or what is expected instead.
const char* want_counters(const char* value);

// For the one line: which counters the kernel refuses, and what to do; nullptr: none. After try_counters().
const char* counters_remark();

}  // namespace lotus
