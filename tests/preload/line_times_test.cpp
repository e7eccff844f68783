// Lines are timed in groups. The test sets the clock.
#include "native/line_times.hpp"

#include <doctest/doctest.h>

#include <functional>

namespace lotus {
namespace {

// Times one line as the hook does; returns the time that it adds to the total.
template <class Left, class Clock, class Call>
std::uint64_t time_line(LineTimes& times, std::uint32_t lines, bool reads, Left&& left, Clock&& clock,
                        Call&& call) {
  const bool inside = times.inside();
  if (!inside) times.before(lines, left, clock);
  call();
  return inside && times.goes_on(reads) ? 0 : times.after(reads, clock);
}

struct Image {
  std::uint32_t lines;
  std::function<std::uint64_t(std::uint32_t)> line, gap;  // duration in ticks, by line
};

struct Seen {
  std::uint64_t truth = 0, added = 0;
  std::uint32_t readings = 0;
};

Seen read(LineTimes& times, const Image& image) {
  Seen seen;
  std::uint64_t now = 1000;
  const auto clock = [&] {
    ++seen.readings;
    return now;
  };
  for (std::uint32_t line = 0; line < image.lines; ++line) {
    seen.added += time_line(
        times, 1, true, [&] { return image.lines - line; }, clock, [&] { now += image.line(line); });
    seen.truth += image.line(line);
    now += image.gap(line);
  }
  return seen;
}

std::uint64_t photograph_line(std::uint32_t line) { return line % 16 == 0 ? 8000 : 30; }

TEST_CASE("lines are timed in groups, and what lies between them is taken off") {
  LineTimes times;
  const Seen seen = read(times, {400, photograph_line, [](auto) { return 15; }});
  CHECK(seen.added == seen.truth);
  CHECK(seen.readings == 2 * (16 + (400 - 16) / 16));
}

TEST_CASE("all lines count, however many there are") {
  for (std::uint32_t lines = 1; lines < 60; ++lines) {
    LineTimes times;
    const Seen seen = read(times, {lines, photograph_line, [](auto) { return 15; }});
    CHECK(seen.added == seen.truth);
    CHECK(seen.readings <= 2 * (16 + (lines > 16 ? (lines - 16 + 15) / 16 : 0)));
  }
}

TEST_CASE("where the caller does much between lines, each line is timed") {
  LineTimes times;
  const Seen seen = read(times, {400, photograph_line, [](auto line) { return line % 7 * 200; }});
  CHECK(seen.added == seen.truth);
  CHECK(seen.readings == 2 * 400);
}

TEST_CASE("where something came between two lines once, each line after that is timed") {
  LineTimes times;
  const Seen seen =
      read(times, {400, photograph_line, [](auto line) { return line == 10 ? 1'000'000 : 15; }});
  CHECK(seen.added == seen.truth);
}

TEST_CASE("a call that waits for bytes ends its group, and what follows it is no gap") {
  LineTimes times;
  std::uint64_t now = 1000, truth = 0, added = 0;
  const auto clock = [&] { return now; };
  std::uint32_t left = 300;
  for (std::uint32_t call = 0; left > 0; ++call) {
    const bool reads = call % 21 != 20;
    added += time_line(
        times, 1, reads, [&] { return left; }, clock, [&] { now += photograph_line(call); });
    truth += photograph_line(call);
    now += reads ? 15 : 50'000;
    left -= reads ? 1 : 0;
  }
  CHECK(added == truth);
}

TEST_CASE("what was begun anew inside of a call adds nothing") {
  LineTimes times;
  std::uint64_t now = 1000;
  const auto clock = [&] { return now; };
  times.before(
      1, [] { return 100; }, clock);
  now += 500;
  times = {};
  CHECK(times.after(true, clock) == 0);
  CHECK(read(times, {100, photograph_line, [](auto) { return 15; }}).added > 0);
}

TEST_CASE("callers may ask for several lines, or for none") {
  LineTimes times;
  std::uint64_t now = 1000;
  const auto clock = [&] { return now; };
  std::uint64_t added = 0;
  for (std::uint32_t call = 0; call < 100; ++call) {
    const std::uint32_t lines = call == 50 ? 0 : 4;
    added += time_line(
        times, lines, lines > 0, [&] { return 400 - 4 * call; }, clock, [&] { now += 300; });
    now += 10;
  }
  CHECK(added == 100 * 300);
}

}  // namespace
}  // namespace lotus
