// What all calls counted together, from the calls that were measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "answers/stats/duration_class.hpp"
#include "answers/stats/interval.hpp"

namespace lotus::analyzer {

// Calls that were measured: how many, and the sums of their counts and of the squares of these.
struct MeasuredCalls {
  std::uint64_t calls = 0;
  double sum = 0, squares = 0;

  void add(double count) {
    ++calls;
    sum += count;
    squares += count * count;
  }
  void add(const MeasuredCalls& other) {
    calls += other.calls;
    sum += other.sum;
    squares += other.squares;
  }
};

// By duration_class() of the calls.
using CallsByDuration = std::array<std::uint64_t, kDurationClasses>;
using MeasuredByDuration = std::array<MeasuredCalls, kDurationClasses>;

struct SampledTotal {
  double value = 0;
  std::optional<Bounds> interval;  // 95 %; none: a single call was measured of several
  std::uint64_t measured = 0;      // calls
};

// The sum over all `calls`, of which `measured` is a part; none: no call was measured.
//
// Post-stratified by duration (Cochran, Sampling Techniques, 5A.9): in each class the measured calls' mean
// stands for the others. A class without two measured calls joins its neighbours; one that was measured
// wholly is exact, and so are the calls in `apart`, which are like no others and not among `calls`. The
// interval is Student's, but not narrower than the exact one of a Poisson count: what happens seldom may have
// been missed in all calls that were measured.
std::optional<SampledTotal> total_of(const CallsByDuration& calls, const MeasuredByDuration& measured,
                                     const MeasuredCalls& apart = {});

}  // namespace lotus::analyzer
