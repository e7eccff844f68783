// By which numbers the kernel counts an event of the processor, from libpfm4's tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lotus::collector {

struct EventNumbers {
  std::uint32_t type = 0;  // of perf_event_attr, as the next two
  std::uint64_t config = 0, config1 = 0;
  std::string problem;  // not empty: why there are none
  bool no_library = false;
};

// `name` as libpfm4 has it, with or without the processor's, as in "INST_RETIRED:ANY". libpfm4 is loaded when
// it is first asked; where it is not installed, or this program cannot load a library, that is the problem.
EventNumbers event_numbers(const std::string& name);

// Prints for each of the names, which have commas between, a line as "4 0x5300c0 0x0 INST_RETIRED:ANY"; "?"
// and a reason after the name if there are no numbers, "-" if libpfm4 is not there. True: all have numbers.
bool print_event_numbers(std::string_view names);

}  // namespace lotus::collector
