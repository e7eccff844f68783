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
// the first one behind it counts neither as a step nor as a part of the loop; nor does another loop inside of
// a step.
struct Iteration {
  std::uint64_t first = kUnknown, last = 0;     // ticks: the first call's start, the last one's end
  std::uint64_t missing = 0;                    // ticks between them that lie in gaps
  std::uint64_t inner_cpu_ns = 0;               // of the process, in other loops inside of the last step
  bool stepping = false;                        // the last call gave a batch: training runs
  std::uint64_t others_before = 0, others = 0;  // OpenSpan::others_steps of the first and of the last call

  // Adds a call. Returns the training step before it: from the end of a call that gave a batch to the start
  // of the following call. Where other loops are inside of it, its end, as long as the rest of it.
  std::optional<Interval> add(const Span& next) {
    const LoopRuns& runs = next.stream.loops;
    const bool gap = stream_ == &next.stream && gaps_ != next.stream.gaps;
    const bool other = stream_ == &next.stream && !gap && runs.ticks_before > looped_;
    stream_ = &next.stream;
    gaps_ = next.stream.gaps;
    if (gap) missing += Interval{last, next.data.start}.ticks();
    const std::uint64_t between = Interval{last, next.data.start}.ticks();
    const std::uint64_t inner = other ? std::min(runs.ticks_before - looped_, between) : 0;
    inner_ += inner;
    inner_cpu_ns = other && runs.cpu_ns_before > looped_cpu_ ? runs.cpu_ns_before - looped_cpu_ : 0;
    looped_ = runs.ticks;
    looped_cpu_ = runs.cpu_ns;
    const auto step =
        stepping && !gap ? std::optional(Interval{last + inner, next.data.start}) : std::nullopt;
    if (first == kUnknown) others_before = next.data.others_steps;
    others = next.data.others_steps;
    first = std::min(first, next.data.start);
    last = next.end;
    stepping = next.ended == Ended::returned;
    return step;
  }

  // Steps that other threads made meanwhile, while the calling one trained nothing: then it hands the batches
  // on, as prefetching threads do, and its waits are not training's. 0: the calling thread trains, or none is
  // known to.
  std::uint64_t trained_elsewhere() const { return others > others_before ? others - others_before : 0; }

  // The length of the recorded part of the loop.
  std::uint64_t ticks() const {
    const std::uint64_t whole = Interval{first, last}.ticks();
    return whole > missing + inner_ ? whole - missing - inner_ : 0;
  }

  // Of the thread that made the last call; only to tell threads apart.
  const Stream* stream() const { return stream_; }

 private:
  const Stream* stream_ = nullptr;
  std::uint64_t gaps_ = 0;
  std::uint64_t inner_ = 0;                    // ticks in other loops
  std::uint64_t looped_ = 0, looped_cpu_ = 0;  // of the thread's loops, at the end of the last call
};

// The start of the epoch in ticks: the call of __iter__ if it was recorded, else the first call of __next__.
inline std::uint64_t begin_of(const IterationKey& key, const Iteration& iteration) {
  const auto& [training, iterator, reset] = key;
  const Epoch* epoch = training->epoch_of(iterator, reset);
  return epoch != nullptr && epoch->ticks <= iteration.first ? epoch->ticks : iteration.first;
}

}  // namespace lotus::analyzer
