// What the calls of an iterator's __next__ tell about training.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "reading/model/span.hpp"
#include "reading/trace/catalog.hpp"

namespace lotus::analyzer {

using IterationKey = std::tuple<const Process*, std::uint64_t, std::uint64_t>;  // training, iterator, reset

// Of a span of kind `next`.
inline IterationKey iteration_of(const Span& next) {
  return {next.stream.process, field<Kind::next, "iterator">(next.data),
          field<Kind::next, "reset">(next.data)};
}

// The calls of one epoch. Where records of its thread are missing, nothing is known of the time between the
// last call before the gap and the first one behind it: that is neither a step nor a part of the loop.
struct Iteration {
  std::uint64_t first = kUnknown, last = 0;  // ticks: the first call's start, the last one's end
  std::uint64_t missing = 0;                 // ticks between them that lie in gaps
  bool stepping = false;                     // the last call gave a batch: training runs

  // Takes one more call in. Returns what training did before it: it runs from the end of a call that gave a
  // batch to the start of the following one.
  std::optional<Interval> add(const Span& next) {
    const bool gap = stream_ == &next.stream && gaps_ != next.stream.gaps;
    stream_ = &next.stream;
    gaps_ = next.stream.gaps;
    if (gap) missing += Interval{last, next.data.start}.ticks();
    const auto step = stepping && !gap ? std::optional(Interval{last, next.data.start}) : std::nullopt;
    first = std::min(first, next.data.start);
    last = next.end;
    stepping = next.ended == Ended::returned;
    return step;
  }

  // How long the loop lasted as far as it was recorded.
  std::uint64_t ticks() const {
    const std::uint64_t whole = Interval{first, last}.ticks();
    return whole > missing ? whole - missing : 0;
  }

 private:
  const Stream* stream_ = nullptr;
  std::uint64_t gaps_ = 0;
};

// When training asked for the epoch: the call of __iter__, where it was recorded, else the first of __next__.
// Ticks.
inline std::uint64_t begin_of(const IterationKey& key, const Iteration& iteration) {
  const auto& [training, iterator, reset] = key;
  const Epoch* epoch = training->epoch_of(iterator, reset);
  return epoch != nullptr && epoch->ticks <= iteration.first ? epoch->ticks : iteration.first;
}

}  // namespace lotus::analyzer
