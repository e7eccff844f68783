// The intervals between the collector's visits to the rings.
#include "visit_pace.hpp"

#include <doctest/doctest.h>

using namespace lotus::collector;

namespace {

Filling grown(double share) { return {0, share, 0}; }

void settle(VisitPace& pace) {
  std::uint64_t pause = kMillisecond;
  for (std::uint64_t passed = 0; passed < 3 * kSecond; passed += pause) pause = pace.pause_after({}, pause);
}

}  // namespace

TEST_CASE("where nothing comes, visits are seldom") {
  VisitPace pace;
  settle(pace);
  CHECK(pace.pause_after({}, kLongestPause) == kLongestPause);
  CHECK(pace.pause_after({}, 0) == kLongestPause);
  CHECK(pace.calm());
}

TEST_CASE("a ring is visited before it is half full, at any speed") {
  for (const double share_a_second : {0.1, 1.0, 3.0, 10.0, 100.0}) {
    VisitPace pace;
    std::uint64_t pause = kMillisecond;
    for (int visit = 0; visit < 20; ++visit) {
      const double share = share_a_second * static_cast<double>(pause) / kSecond;
      CHECK(share < 0.5);
      pause = pace.pause_after(grown(share), pause);
    }
  }
}

TEST_CASE("what waits in a ring takes room") {
  VisitPace empty, waiting;
  settle(empty);
  settle(waiting);
  CHECK(waiting.pause_after({0.2, 0.1, 0}, kLongestPause) < empty.pause_after({0, 0.1, 0}, kLongestPause));
}

TEST_CASE("a ring that fills in turns is visited as if it filled all the time") {
  VisitPace pace;
  const std::uint64_t busy = pace.pause_after(grown(0.5), 50 * kMillisecond);
  CHECK(busy < 50 * kMillisecond);
  const std::uint64_t quiet = pace.pause_after({}, busy);
  CHECK(quiet < 50 * kMillisecond);
  std::uint64_t later = quiet;
  for (std::uint64_t passed = 0; passed < 60 * kSecond; passed += later) later = pace.pause_after({}, later);
  CHECK(later == kLongestPause);
}

TEST_CASE("definitions come in bursts, and after one another") {
  VisitPace pace;
  settle(pace);
  CHECK(pace.pause_after({0, 0, 0.001}, kLongestPause) < 10 * kMillisecond);
  CHECK(!pace.calm());
  std::uint64_t pause = 5 * kMillisecond;
  for (std::uint64_t passed = pause; passed < kSecond; passed += pause) {
    pause = pace.pause_after({}, pause);
    CHECK(pause <= std::max(passed, 5 * kMillisecond));
    CHECK(!pace.calm());
  }
  settle(pace);
  CHECK(pace.pause_after({}, pause) == kLongestPause);
}

TEST_CASE("a burst of definitions costs a few visits, however often other rings are the reason for one") {
  VisitPace pace;
  std::uint64_t pause = pace.pause_after({0, 0, 0.1}, kLongestPause);
  int visits = 0;
  for (std::uint64_t passed = 0; passed < 300 * kMillisecond; passed += pause, ++visits)
    pause = pace.pause_after({}, pause);
  CHECK(visits < 10);
  pace.pause_after({0, 0, 0.1}, kLongestPause);
  for (int visit = 0; visit < 10; ++visit) CHECK(pace.pause_after({}, kMillisecond) <= 10 * kMillisecond);
}

TEST_CASE("a process that begins is expected to define what it runs, however long nothing was traced") {
  VisitPace pace;
  settle(pace);
  pace.expect_definitions();
  CHECK(pace.pause_after({}, 1000 * kSecond) < 10 * kMillisecond);
  CHECK(!pace.calm());
}

TEST_CASE("what a burst of definitions filled says nothing of how the ring fills later") {
  VisitPace pace;
  CHECK(pace.pause_after({0, 0, 0.4}, kMillisecond) == kMillisecond);
  CHECK(pace.pause_after({}, kMillisecond) == 5 * kMillisecond);
  CHECK(pace.pause_after({}, 50 * kMillisecond) > 50 * kMillisecond);
}

TEST_CASE("rings that fill fast are not calm") {
  VisitPace pace;
  settle(pace);
  pace.pause_after(grown(0.2), 20 * kMillisecond);
  CHECK(!pace.calm());
}
