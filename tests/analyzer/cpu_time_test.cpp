#include "answers/stats/cpu_time.hpp"

#include <doctest/doctest.h>

using namespace lotus::analyzer;

namespace {

constexpr std::int64_t kUs = 1000;

}  // namespace

TEST_CASE("CPU time: nothing measured is nothing known") {
  CpuTime time;
  CHECK_FALSE(time.ns());
  time.add(5 * kUs, {});
  CHECK_FALSE(time.ns());
  CHECK_FALSE(time.share());
}

TEST_CASE("CPU time: a share of the calls stands for all that took as long") {
  CpuTime time;
  for (int i = 0; i < 1000; ++i)
    time.add(100 * kUs, i % 50 == 0 ? std::optional<std::uint64_t>(80 * kUs) : std::nullopt);
  CHECK(*time.ns() == doctest::Approx(1000 * 80e3));
  CHECK(*time.share() == doctest::Approx(0.8));
}

// On a busy machine the kernel often preempts a thread when it reads its CPU clock, so measured calls take
// longer than others.
TEST_CASE("CPU time: that measured calls lose their core more often does not count against the others") {
  CpuTime time;
  double truth = 0;
  for (int i = 0; i < 3200; ++i) {
    const bool measured = i % 32 == 0;
    const bool preempted = measured ? i % 64 == 0 : i % 100 == 7;
    truth += 50e3;
    time.add((preempted ? 4050 : 50) * kUs, measured ? std::optional<std::uint64_t>(50 * kUs) : std::nullopt);
  }
  CHECK(*time.ns() == doctest::Approx(truth).epsilon(0.02));
}

TEST_CASE("CPU time: never more than the wall time, and classes without a measurement are as all others") {
  CpuTime time;
  time.add(10 * kUs, 12 * kUs);  // the two clocks disagree by a tick
  CHECK(*time.share() == 1);
  time.add(1000 * kUs, 500 * kUs);
  time.add(100 * kUs, {});
  CHECK(*time.ns() == doctest::Approx(10e3 + 500e3 + 100e3 * 512 / 1010));
  CHECK(*time.ns(0.25) == doctest::Approx(10e3 + 500e3 + 100e3 * 0.25));
  CHECK(time.unmeasured_wall() == 100e3);
  time.add(0, {});
  CHECK(*time.share() <= 1);
}
