// What counters say together: formulas, one row each.
#pragma once

#include <functional>
#include <lotus/topdown.hpp>
#include <optional>
#include <string>
#include <vector>

#include "answers/counters/findings.hpp"
#include "answers/counters/formula.hpp"

namespace lotus::analyzer {

struct RatioRow {
  std::string key;    // in JSON and CSV
  std::string title;  // for people
  double scale;       // of the formula's value
  Formula formula;
  std::optional<TopdownPart> part;  // of a share of the processor's slots, in percent
};

// Those of all processors; then the shares of the slots, if `topdown` is not nullptr.
std::vector<RatioRow> ratio_rows(const TopdownModel* topdown);

struct Ratio {
  double value = 0;
  std::optional<Bounds> interval;  // from the ends of all totals' intervals: wider than 95 %, never narrower
};

// None: one of its counters was not counted, or a divisor was 0. Shares of slots are between 0 and 100 %,
// where groups that are on in turns, or two threads of a core, would have them a little outside.
using TotalOf = std::function<std::optional<SampledTotal>(const std::string& counter)>;
std::optional<Ratio> ratio_of(const RatioRow& row, const TotalOf& total_of);
std::optional<Ratio> ratio_of(const RatioRow& row, const CountedCalls& calls);

// An operation that loses more of the processor's slots than is usual, and to what: largest first. A loss is
// divided where the processor says by what, and told only if all of its interval is above the threshold.
struct LostSlots {
  struct To {
    std::string key;   // of the ratio
    const char* what;  // "waiting for memory"
    double percent;    // of the operation's slots, or cycles: CounterFindings::topdown
    Bounds interval;
  };
  OpKey op;
  double wall_ns;
  std::vector<To> to;
};

// Longest operations first; those with less than 1 % of the time are left out.
std::vector<LostSlots> lost_slots(const CounterFindings& findings);

}  // namespace lotus::analyzer
