// The simulated cores of the replay.
#include <doctest/doctest.h>

#include <map>
#include <optional>

#include "answers/replay/machine.hpp"

using namespace lotus::analyzer;

namespace {

// Runs the machine until all actors are done; returns the time at which each was done.
std::map<Machine::Actor, double> ends(Machine& machine) {
  std::map<Machine::Actor, double> times;
  while (const auto actor = machine.next()) times[*actor] = machine.now();
  return times;
}

}  // namespace

TEST_CASE("threads that have a core each take their own time, sleeping ones too") {
  Machine machine(2);
  machine.compute(0, 10);
  machine.compute(1, 20);
  machine.sleep(2, 5);
  CHECK(ends(machine) == std::map<Machine::Actor, double>{{2, 5}, {0, 10}, {1, 20}});
}

TEST_CASE("two threads share a core, a third has one of its own; who is left alone goes on at full speed") {
  Machine machine(2);
  machine.compute(0, 30);
  machine.compute(1, 10);
  machine.compute(2, 30);
  const auto times = ends(machine);
  CHECK(times.at(1) == 10);
  // 0 and 2 shared a core for 10, then one of them moved to the free core: each had 25 left.
  CHECK(times.at(0) == 35);
  CHECK(times.at(2) == 35);
}

TEST_CASE("a core that has nothing left takes a thread from another") {
  Machine machine(2);
  for (Machine::Actor actor = 0; actor < 3; ++actor) machine.compute(actor, 100);
  const auto times = ends(machine);
  CHECK(times.at(1) == 100);  // alone
  CHECK(times.at(0) == 150);  // half its work by 100, then a core to itself
  CHECK(times.at(2) == 150);
}

TEST_CASE("a thread goes where it was") {
  Machine machine(2);
  machine.compute(0, 10);
  machine.compute(1, 100);
  machine.compute(2, 100);  // on the core of 0
  REQUIRE(machine.next() == 0u);
  CHECK(machine.now() == 20);
  machine.compute(0, 10);  // both cores have one thread: it returns to that of 2
  REQUIRE(machine.next() == 0u);
  CHECK(machine.now() == 40);
  REQUIRE(machine.next() == 1u);
  CHECK(machine.now() == 100);
}

TEST_CASE("a share of a core's time slows even one thread; one and a half do not") {
  Machine half(0.5);
  half.compute(0, 10);
  CHECK(ends(half).at(0) == 20);
  Machine more(1.5);
  more.compute(0, 10);
  CHECK(ends(more).at(0) == 10);
  more.compute(0, 30);
  more.compute(1, 30);
  CHECK(ends(more).at(1) == 50);
}

TEST_CASE("a job of several threads is done when the last of them is") {
  Machine machine(4);
  machine.compute(0, 40, 4);
  machine.compute(1, 10);
  const auto times = ends(machine);
  CHECK(times.at(1) == 20);
  CHECK(times.at(0) == 50);
}

TEST_CASE("many cores, and more threads than any machine has") {
  Machine machine(128);
  for (Machine::Actor actor = 1; actor <= 64; ++actor) machine.compute(actor, 10);
  machine.compute(0, 10, 64);
  for (const auto& [actor, time] : ends(machine)) CHECK(time == doctest::Approx(10));
  machine.compute(0, 10, 1e12);
  CHECK(ends(machine).at(0) == doctest::Approx(10 + 10 * 1e12 / 128));
}
