// What torch.compile made of a region: where its graphs break and what that costs, what was compiled again,
// and what calls check. As PyTorch says it of itself (records graph_break and compilation), beside the calls
// that were recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/controlflow/region.hpp"
#include "answers/controlflow/times.hpp"
#include "answers/memory/source.hpp"

namespace lotus::analyzer::controlflow {

struct GraphBreakAnswer {
  memory::SourceLine source;
  std::vector<std::string> reasons;  // the first line of each; what follows is of all of them together
  std::uint64_t times = 0;           // that compiling met it
  // What lies between the graph before it and the graph behind it, in a call of the region, where what goes
  // on behind it was called: Python with what calls check, and operators that run outside of graphs.
  double calls = 0, python_ns = 0, operators_ns = 0;
  bool known = false;
};

struct CompiledFunction {
  memory::SourceLine source;
  std::uint64_t compiled = 0, again = 0, failed = 0;  // again: of `compiled`
  std::vector<std::string> reasons;                   // of compiling again, and of failures; each once
  std::optional<double> took_ns;                      // all times together
  std::optional<std::uint64_t> guards;                // of the last one: what a call checks, …
  std::optional<double> check_ns;                     // … and how long that took with empty caches
  double calls = 0;                                   // in a call of the region
};

struct CompiledAnswer {
  std::vector<GraphBreakAnswer> breaks;     // what costs most first
  std::vector<CompiledFunction> functions;  // what took most to compile first
  std::uint64_t compiling_calls = 0;        // recorded calls in which something was compiled
  double inside_ns = 0, outside_ns = 0;     // compiling, in calls and steps and elsewhere
  bool any() const { return !breaks.empty() || !functions.empty(); }
  // Part of a call, or all, is compiled already.
  bool runs() const;
  // What checks take in a call, at most: PyTorch measured them with empty caches. No more than `python_ns`.
  std::optional<double> guards_at_most_ns(double python_ns) const;
};

// Something was compiled in it, so that it tells nothing of a usual call.
bool has_compiled(const Region& region);

CompiledAnswer compiled_of(const std::vector<const Region*>& recorded);
// Adds a region's costs of breaks, `share` times, and its calls.
void add_compiled(CompiledAnswer& answer, const Region& region, const Times& times, double share);
// Once all `used` regions are added: calls are of one of them, and all is in order.
void settle(CompiledAnswer& answer, std::uint64_t used);

}  // namespace lotus::analyzer::controlflow
