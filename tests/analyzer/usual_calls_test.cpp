// Which calls of a region count, and how much of them was recording.
#include <doctest/doctest.h>

#include "made_regions.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

namespace {

struct MadeCall {
  double wall_ms = 1;
  std::uint64_t operators = 1;
  double cpu_ms = 0;  // 0: not known
  bool only_timed = false;
  double cost_ms = 0.1;
};

void add(RegionTrace& made, std::uint64_t number, const MadeCall& call) {
  const double from = 10 + 20 * static_cast<double>(number);
  made.begin(from, number);
  if (!call.only_timed) {
    made.call(from, kHelper);
    for (std::uint64_t i = 0; i < call.operators; ++i)
      made.op(from + 0.1 * static_cast<double>(i + 1), 0.05, kAdd, made.place(kHelper, 0));
    made.returns(from + call.wall_ms);
  }
  made.end(from + call.wall_ms, number, call.only_timed ? 4 : 0, call.only_timed ? 0 : call.cost_ms,
           call.cpu_ms);
}

}  // namespace

TEST_CASE("control-flow: kinds of calls keep their shares") {
  RegionTrace made;
  for (std::uint64_t i = 0; i < 41; ++i)
    add(made, i, i % 4 == 1 ? MadeCall{.wall_ms = 3, .operators = 5} : MadeCall{});
  const Told told(made);
  REQUIRE(told.answers.size() == 1);
  CHECK(told.answers[0].used == 20);  // 10 of 40 are long ones: 5 of 20
  CHECK(told.answers[0].operators == Approx(2));
  CHECK(told.answers[0].parts.all() == Approx(1.5 * kMs));
}

TEST_CASE("control-flow: what only the first calls did is left out") {
  RegionTrace made;
  for (std::uint64_t i = 0; i < 21; ++i)
    add(made, i, i < 3 ? MadeCall{.wall_ms = 8, .operators = 9} : MadeCall{});
  const Told told(made);
  REQUIRE(told.answers.size() == 1);
  CHECK(told.answers[0].operators == Approx(1));
  CHECK(told.answers[0].parts.all() == Approx(1 * kMs));
}

TEST_CASE("control-flow: kinds with few calls are put together") {
  RegionTrace made;
  for (std::uint64_t i = 0; i < 13; ++i) add(made, i, {.operators = 1 + i});
  const Told told(made);
  REQUIRE(told.answers.size() == 1);
  CHECK(told.answers[0].used == 5);  // of the last nine, as nothing came again: of four two, of five three
  CHECK(told.answers[0].operators == Approx(9).epsilon(0.2));
}

TEST_CASE("control-flow: calls that waited are left out, unless that is usual") {
  for (const std::uint64_t waiting : {3u, 9u}) {
    RegionTrace made;
    for (std::uint64_t i = 0; i < 13; ++i)
      add(made, i, i > 0 && i <= waiting ? MadeCall{.wall_ms = 5, .cpu_ms = 1} : MadeCall{.cpu_ms = 1});
    const Told told(made);
    REQUIRE(told.answers.size() == 1);
    CHECK(told.answers[0].used == 6);
    CHECK(told.answers[0].waits() == (waiting == 9));
    if (waiting == 3) CHECK(told.answers[0].parts.all() == Approx(1 * kMs));
  }
}

TEST_CASE("control-flow: recording is what the thread computed more, not what it waited") {
  RegionTrace made;
  for (std::uint64_t i = 0; i < 12; ++i)
    add(made, i,
        i < 6 ? MadeCall{.wall_ms = 5, .cpu_ms = 3, .cost_ms = 1}
              : MadeCall{.wall_ms = 1.8, .cpu_ms = 1.8, .only_timed = true});
  const Told told(made);
  REQUIRE(told.answers.size() == 1);
  const controlflow::RegionAnswer& answer = told.answers[0];
  CHECK(answer.parts.all() == Approx(5 * kMs));
  CHECK(answer.parts.tracing == Approx(1.2 * kMs));
  CHECK(*answer.waited_ns == Approx(2 * kMs));
  CHECK(answer.waits());
}
