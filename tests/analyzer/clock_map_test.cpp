// Ticks to nanoseconds where the realtime clock was set while the trace was made.
#include "reading/trace/clock_map.hpp"

#include <doctest/doctest.h>

using namespace lotus;
using namespace lotus::analyzer;

namespace {

constexpr std::uint64_t kStart = 1'700'000'000'000'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kTicksPerSecond = 187'500'000;  // a TSC of 3 GHz, 16 cycles a tick

// A pair `seconds` after the start, by a clock that is `wrong_s` ahead.
ClockPair at(std::uint64_t seconds, std::int64_t wrong_s = 0) {
  return {1 + seconds * kTicksPerSecond,
          kStart + seconds * kSecond + static_cast<std::uint64_t>(wrong_s) * kSecond};
}

double seconds_of(ClockMap map) {
  map.settle();
  return static_cast<double>(map.duration_ns(kTicksPerSecond)) / static_cast<double>(kSecond);
}

ClockMap tsc() { return {ClockSource::tsc, kTickShift}; }

}  // namespace

TEST_CASE("the rate comes from the whole of a run") {
  ClockMap map = tsc();
  for (const std::uint64_t second : {40, 0, 10, 20, 30}) map.add(at(second));
  CHECK(seconds_of(map) == doctest::Approx(1).epsilon(1e-9));
}

TEST_CASE("a clock that was set, forward or back, once or twice, does not stretch time") {
  for (const std::int64_t step : {-7200, -60, -1, 1, 60, 3600}) {
    CAPTURE(step);
    ClockMap once = tsc();
    for (std::uint64_t second = 0; second <= 50; second += 10) once.add(at(second, second > 20 ? step : 0));
    CHECK(seconds_of(once) == doctest::Approx(1).epsilon(1e-4));
    ClockMap twice = tsc();
    for (std::uint64_t second = 0; second <= 50; second += 10) twice.add(at(second, second == 20 ? step : 0));
    CHECK(seconds_of(twice) == doctest::Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("pairs of processes that begin together, and then a step") {
  ClockMap map = tsc();
  for (std::uint64_t i = 0; i < 20; ++i) map.add({at(0).ticks + i * 1000, at(0).realtime_ns + i * 5333});
  for (std::uint64_t second = 10; second <= 60; second += 10) map.add(at(second, second > 50 ? 900 : 0));
  CHECK(seconds_of(map) == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("a clock that is slewed is followed") {
  ClockMap map = tsc();
  for (std::uint64_t second = 0; second <= 60; second += 10) {
    ClockPair pair = at(second);
    pair.realtime_ns += second * 400'000;  // 400 ppm
    map.add(pair);
  }
  CHECK(seconds_of(map) == doctest::Approx(1.0004).epsilon(1e-7));
}
