// What lies between the graphs of a compiled function: the time that its graph breaks cost, each part of it
// once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/controlflow/region.hpp"
#include "answers/memory/source.hpp"

namespace lotus::analyzer::controlflow {

struct Window {
  std::uint64_t begin = 0, end = 0;  // ticks
  bool holds(std::uint64_t ticks) const { return begin <= ticks && ticks < end; }
};

// The time of one break in one call of what goes on behind it.
struct BreakWindow {
  std::size_t broken = 0;    // number of the break
  Window whole;              // from the end of the graph before it to the begin of the one behind it, …
  std::vector<Window> gaps;  // … without these: graphs, and functions that have breaks of their own
  bool counts = true;        // else another window of the same break is of the same time that it was met

  bool holds(std::uint64_t ticks) const;
};

std::vector<BreakWindow> break_windows(const std::vector<memory::SourceLine>& breaks, const Region& region);

// The name without the class or function that it is defined in.
std::string_view last_name(std::string_view qualified);

// The program's function, of the name of one that goes on behind a break of it: up to PyTorch 2.6, breaks
// there are told as that one's.
std::string original_function(std::string_view name);

}  // namespace lotus::analyzer::controlflow
