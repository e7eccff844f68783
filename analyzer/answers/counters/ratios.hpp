// What counters say together: formulas, one row each.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "answers/counters/collector.hpp"

namespace lotus::analyzer {

// scale × numerator / denominator, both of them counters.
struct RatioRow {
  const char* key;    // in JSON and CSV
  const char* title;  // for people
  const char* numerator;
  const char* denominator;
  double scale;
};

std::span<const RatioRow> ratio_rows();

struct Ratio {
  double value = 0;
  std::optional<Bounds> interval;  // from the ends of both totals' intervals: wider than 95 %, never narrower
};

// None: one of the two was not counted, or the denominator was 0.
std::optional<Ratio> ratio_of(const RatioRow& row, const CountedCalls& calls);

}  // namespace lotus::analyzer
