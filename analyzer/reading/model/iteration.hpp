// Training loops, derived from the calls of an iterator's __next__.
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

// The calls of one epoch. If records of its thread are missing, the time from the last call before the gap to
// the first one behind it counts neither as a step nor as a part of the loop.
struct Iteration {
  std::uint64_t first = kUnknown, last = 0;  // ticks: the first call's start, the last one's end
  std::uint64_t missing = 0;                 // ticks between them that lie in gaps
  bool stepping = false;                     // the last call gave a batch: training runs

  // Adds a call. Returns the training step before it: from the end of a call that gave a batch to the start
  // of the following call.
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

  // The length of the recorded part of the loop.
  std::uint64_t ticks() const {
    const std::uint64_t whole = Interval{first, last}.ticks();
    return whole > missing ? whole - missing : 0;
  }

 private:
  const Stream* stream_ = nullptr;
  std::uint64_t gaps_ = 0;
};

// The start of the epoch in ticks: the call of __iter__ if it was recorded, else the first call of __next__.
inline std::uint64_t begin_of(const IterationKey& key, const Iteration& iteration) {
  const auto& [training, iterator, reset] = key;
  const Epoch* epoch = training->epoch_of(iterator, reset);
  return epoch != nullptr && epoch->ticks <= iteration.first ? epoch->ticks : iteration.first;
}

}  // namespace lotus::analyzer
