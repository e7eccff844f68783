// Which counters LOTUS_COUNTERS asks for, and which of them the kernel refuses.
#pragma once

#include <cerrno>
#include <lotus/counters.hpp>
#include <lotus/topdown.hpp>

#include "counters/processor.hpp"
#include "system/hot.hpp"

namespace lotus {

struct WantedCounter {
  CounterRow row;
  bool user_only;  // of perf: what the kernel does for the thread is not counted, it does not permit it
  int error;       // of perf: an errno, why it is not counted; 0: it is
  bool to_look_up = false;  // its numbers are to be asked for: `row` has none yet
};

// `error` of a counter whose name nobody here knows, and where libpfm4 is not there to be asked.
inline constexpr int kUnknownName = ESRCH;
inline constexpr int kNobodyToAsk = ELIBACC;

struct WantedCounters {
  bool tried;            // the kernel was asked for them
  bool listed;           // what there is is to be told, and nothing is counted
  bool topdown_unknown;  // the set was asked for, and this processor's events are not known
  std::size_t count;
  WantedCounter of[kMaxCounters];
};
extern WantedCounters wanted_counters;

// Whether anything is counted in this process.
LOTUS_DIRECT extern bool counters_on;

// Takes the value of LOTUS_COUNTERS: sets and names with commas between, or `list`. nullptr, or what is
// expected instead. Names that only libpfm4 may know are taken as they are, and looked up before anything is
// counted: look_up_counters().
const char* want_counters(const char* value, const ProcessorId& processor);
inline const char* want_counters(const char* value) { return want_counters(value, this_processor()); }

// Reasons of the kernel's refusals, with what to do.
inline constexpr const char* kNotOffered =
    "this machine does not offer them, as most virtual machines do not";
inline constexpr const char* kNotPermitted =
    "the kernel does not permit it: sysctl kernel.perf_event_paranoid=1 as root, and in a container "
    "--cap-add=PERFMON";
bool is_permission(int error);

// Who knows names: writes a line for each of `names`, which have commas between, as `lotus-collector
// --encode` does. False: could not be asked.
using AskForNames = bool (*)(const char* names, char* answer, std::size_t size);

// Gives the counters that are still to be looked up their numbers, once; not on the way of a handler of
// signals.
void look_up_counters(AskForNames ask);

// For the one line: which counters the kernel refuses, and what to do; nullptr: none. After try_counters().
const char* counters_remark();

}  // namespace lotus
