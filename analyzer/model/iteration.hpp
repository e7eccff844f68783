// What the calls of an iterator's __next__ tell about training.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "model/span.hpp"

namespace lotus::analyzer {

using IterationKey = std::tuple<const Process*, std::uint64_t, std::uint64_t>;  // training, iterator, reset

// Of a span of kind `next`.
inline IterationKey iteration_of(const Span& next) {
  return {next.stream.process, next.data.fields[0], next.data.fields[1]};
}

struct Iteration {
  std::uint64_t first = kUnknown, last = 0;  // ticks: the first call's start, the last one's end
  bool stepping = false;                     // the last call gave a batch: training runs

  // Takes one more call in. Returns what training did before it: it runs from the end of a call that gave a
  // batch to the start of the following one.
  std::optional<Interval> add(const Span& next) {
    const auto step = stepping ? std::optional(Interval{last, next.data.start}) : std::nullopt;
    first = std::min(first, next.data.start);
    last = next.end;
    stepping = next.ended == Ended::returned;
    return step;
  }
};

}  // namespace lotus::analyzer
