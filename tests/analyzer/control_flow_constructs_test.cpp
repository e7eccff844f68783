// Loops, branches and recursion: counts and times; expected values by hand.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "made_regions.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using controlflow::ConstructKind;
using doctest::Approx;

TEST_CASE("control-flow: iterations, branches and times of a loop") {
  RegionTrace made;
  made.begin(10);
  made.call(10, kForward);
  double ms = 10;
  // Three iterations of 2 ms; the branch is taken in the first and the last one.
  for (int i = 0; i < 3; ++i, ms += 2) {
    made.op(ms + 0.5, 0.3, kAdd, made.place(kForward, 4));
    if (i != 1) made.op(ms + 1, 0.2, kAdd, made.place(kForward, 8));
    made.op(ms + 1.5, 0.1, kAdd, made.place(kForward, 12));
  }
  made.returns(17);
  made.end(18);
  const Told told(made);
  REQUIRE(told.answers.size() == 1);
  const controlflow::RegionAnswer& answer = told.answers[0];
  CHECK(answer.name == "Model.forward");
  CHECK(answer.parts.native == Approx(1.6 * kMs));
  CHECK(answer.parts.control == 0);
  CHECK(answer.parts.python == Approx(6.4 * kMs));
  CHECK(answer.overhead() == Approx(0.8));
  CHECK_FALSE(answer.lower_bound);
  const controlflow::Construct& loop = told.loop(11);
  CHECK(loop.entries == 1);
  CHECK(loop.iterations == 3);
  CHECK(loop.operators == 8);
  CHECK_FALSE(loop.lower_bound);
  CHECK_FALSE(loop.data_dependent);
  CHECK(loop.own.native == Approx(1.6 * kMs));
  CHECK(loop.own.python + answer.outside.python == Approx(6.4 * kMs));
  const controlflow::Construct& branch = told.branch(13);
  CHECK(branch.taken == 2);
  CHECK(branch.not_taken == 1);
  CHECK(branch.unknown == 0);
  CHECK(branch.joins);
  CHECK(branch.taken_time.native == Approx(0.4 * kMs));
  CHECK(branch.not_taken_time.native == 0);
}

TEST_CASE("control-flow: a loop in whose body nothing is seen but an inner loop is not counted exactly") {
  // for …: (line 11: offset 2, FOR_ITER to 14)  for …: (line 12: offset 4, to 12)  two calls (line 13)
  Assembly code;
  code.add(kNop, 0, 10).add(kForIter, 5, 11).add(kForIter, 3, 12).add(kCall, 0, 13).add(kCall, 0, 13);
  code.add(kJumpBackward, 4, 12).add(kJumpBackward, 6, 11).add(kReturn, 0, 15);
  constexpr std::uint64_t kNested = 3;
  RegionTrace made;
  made.code(kNested, "Model.nested", code);
  made.begin(10);
  made.call(10, kNested);
  for (int i = 0; i < 4; ++i) {
    made.op(11 + i, 0.3, kAdd, made.place(kNested, 6));
    made.op(11.5 + i, 0.3, kAdd, made.place(kNested, 8));
  }
  made.returns(17);
  made.end(18);
  const Told told(made);
  for (const std::uint64_t line : {11, 12}) {
    const controlflow::Construct& loop = told.loop(line);
    CHECK_FALSE(loop.exact);
    CHECK_FALSE(loop.lower_bound);
  }
  CHECK(told.loop(12).iterations == 4);
  const std::string text = controlflow::control_flow_text(told.answers, 12, Terminal{});
  CHECK(text.find("~4") != std::string::npos);
  CHECK(text.find("it may be more or fewer") != std::string::npos);
  CHECK(controlflow::control_flow_json(told.answers)["constructs"][0]["exact"] == false);
}

TEST_CASE("control-flow: an instruction that is seen only sometimes counts as not seen") {
  RegionTrace made;
  made.begin(10);
  made.call(10, kForward);
  for (int i = 0; i < 4; ++i) {
    if (i < 2) made.op(11.2 + i, 0.1, kAdd, made.place(kForward, 4));
    made.op(11.5 + i, 0.1, kAdd, made.place(kForward, 8));
    made.op(11.8 + i, 0.1, kAdd, made.place(kForward, 12));
  }
  made.returns(17);
  made.end(18);
  const Told told(made);
  const controlflow::Construct& loop = told.loop(11);
  CHECK(loop.iterations == 4);
  CHECK(loop.exact);
  const controlflow::Construct& branch = told.branch(13);
  CHECK(branch.taken == 4);
}

TEST_CASE("control-flow: an exception leads to its handler, and the loop behind it is told") {
  // for …: (line 11: offset 2, to 8)  a call in try (line 12)
  // for …: (line 15: its iterator at offset 8, from 10 to 18)  two calls (line 16)
  // handler: (offset 20)  a call (line 14), on to offset 8
  constexpr unsigned kPushExcInfo = 35;
  Assembly code;
  code.add(kNop, 0, 10).add(kForIter, 2, 11).add(kCall, 0, 12).add(kJumpBackward, 3, 11).add(kNop, 0, 15);
  code.add(kForIter, 3, 15).add(kCall, 0, 16).add(kCall, 0, 16).add(kJumpBackward, 4, 15).add(kReturn, 0, 17);
  code.add(kPushExcInfo, 0, 13).add(kCall, 0, 14).add(kJumpBackward, 9, 14);
  constexpr std::uint64_t kTrying = 3;
  RegionTrace made;
  made.code(kTrying, "Model.trying", code);
  made.begin(10);
  made.call(10, kTrying);
  made.op(11, 0.1, kAdd, made.place(kTrying, 4));
  made.op(12, 0.1, kAdd, made.place(kTrying, 22));
  for (int i = 0; i < 3; ++i) {
    made.op(13.2 + i, 0.1, kAdd, made.place(kTrying, 12));
    made.op(13.5 + i, 0.1, kAdd, made.place(kTrying, 14));
  }
  made.returns(17);
  made.end(18);
  const Told told(made);
  CHECK(told.answers.at(0).constructs.size() == 2);  // what follows the handler is no loop
  const controlflow::Construct& behind = told.loop(15);
  CHECK(behind.entries == 1);
  CHECK(behind.iterations == 3);
  CHECK(behind.exact);
  const controlflow::Construct& around = told.loop(11);
  CHECK(around.iterations == 1);
}

TEST_CASE("control-flow: by the table of exceptions only what stands in a try leads to its handler") {
  // for …: (line 11: offset 2, to 16)  x + 1 (line 12)  if …: (line 13: test at 6 to 10)  line 14
  //     try: (line 16: offsets 10 and 12)
  // return (offset 16)  handler: (line 17: offset 18), and on with the loop
  constexpr unsigned kLoadConst = 100, kPopTop = 1, kPushExcInfo = 35, kPopExcept = 89, kBinaryOp = 122;
  Assembly code;
  code.add(kNop, 0, 10).add(kForIter, 6, 11).add(kBinaryOp, 0, 12).add(kJumpIfFalse, 1, 13).add(kNop, 0, 14);
  code.add(kLoadConst, 0, 16).add(kPopTop, 0, 16).add(kJumpBackward, 7, 11).add(kReturn, 0, 19);
  code.add(kPushExcInfo, 0, 17).add(kPopExcept, 0, 18).add(kJumpBackward, 11, 18);
  for (const bool known : {true, false}) {
    INFO(known);
    code.exceptions = known ? "\x85\x02\x09\x01" : "";
    constexpr std::uint64_t kTrying = 3;
    RegionTrace made;
    made.code(kTrying, "Model.trying", code);
    made.begin(10);
    made.call(10, kTrying);
    for (int i = 0; i < 3; ++i) made.op(11 + i, 0.1, kAdd, made.place(kTrying, 4));
    made.returns(17);
    made.end(18);
    const Told told(made);
    const controlflow::Construct& loop = told.loop(11);
    CHECK(loop.iterations == 3);
    CHECK(loop.exact == known);
  }
}

TEST_CASE("control-flow: a specialised PRECALL is the call behind it") {
  // for …: (line 11: offset 2, to 12)  a call (line 12: PRECALL at 4, CALL at 6)  a call (line 13: at 8)
  constexpr unsigned kPrecall = 166;
  Assembly code;
  code.add(kNop, 0, 10).add(kForIter, 4, 11).add(kPrecall, 0, 12).add(kCall, 0, 12).add(kCall, 0, 13);
  code.add(kJumpBackward, 5, 11).add(kReturn, 0, 14);
  constexpr std::uint64_t kCalling = 3;
  RegionTrace made;
  made.code(kCalling, "Model.calling", code);
  made.begin(10);
  made.call(10, kCalling);
  for (int i = 0; i < 4; ++i) {
    // As sorted() does: twice in an iteration.
    made.op(11.2 + i, 0.1, kAdd, made.place(kCalling, i < 2 ? 6 : 4));
    made.op(11.4 + i, 0.1, kAdd, made.place(kCalling, i < 2 ? 6 : 4));
    made.op(11.6 + i, 0.1, kSelect, made.place(kCalling, 8));
  }
  made.returns(17);
  made.end(18);
  const Told told(made);
  const controlflow::Construct& loop = told.loop(11);
  CHECK(loop.iterations == 4);
  CHECK(loop.exact);
}

TEST_CASE("control-flow: the copy of a loop's test before it is none of its branches") {
  // while a and b(): (line 11: tests at 2 and 6, to 20)  a call (line 12: offset 8)
  // again: a (line 11: test at 10, to 20), b() (test at 14, back to 8)
  constexpr unsigned kBackIfTrue = 176;
  Assembly code;
  code.add(kNop, 0, 10).add(kJumpIfFalse, 8, 11).add(kCall, 0, 11).add(kJumpIfFalse, 6, 11).add(kCall, 0, 12);
  code.add(kJumpIfFalse, 4, 11).add(kCall, 0, 11).add(kBackIfTrue, 4, 11).add(kNop, 0, 13).add(kNop, 0, 13);
  code.add(kReturn, 0, 13);
  constexpr std::uint64_t kWhile = 3;
  RegionTrace made;
  made.code(kWhile, "Model.whiles", code);
  made.begin(10);
  made.call(10, kWhile);
  made.op(10.5, 0.1, kAdd, made.place(kWhile, 4));
  for (int i = 0; i < 3; ++i) {
    made.op(11.2 + i, 0.1, kAdd, made.place(kWhile, 8));
    made.op(11.6 + i, 0.1, kAdd, made.place(kWhile, 12));
  }
  made.returns(17);
  made.end(18);
  const Told told(made);
  const controlflow::Construct& loop = told.loop(11);
  CHECK(loop.entries == 1);
  CHECK(loop.iterations == 3);
  CHECK(loop.exact);
  CHECK(told.find(ConstructKind::branch, 11) == nullptr);
}

TEST_CASE("control-flow: recursion has calls, depth, and time by depth") {
  RegionTrace made;
  made.begin(10);
  made.call(10, kHelper);
  made.call(11, kHelper, made.place(kHelper, 0));
  made.op(12, 0.5, kAdd, made.place(kHelper, 0));
  made.returns(13);
  made.call(14, kHelper, made.place(kHelper, 0));
  made.returns(15);
  made.returns(16);
  made.end(16);
  const Told told(made);
  const controlflow::Construct& recursion = told.recursion(10);
  CHECK(recursion.calls == 3);
  CHECK(recursion.depth == 2);
  CHECK(recursion.calls_by_depth == std::vector<std::uint64_t>{1, 2});
  CHECK(recursion.by_depth[0].all() == Approx(3 * kMs));
  CHECK(recursion.by_depth[1].all() == Approx(3 * kMs));
  CHECK(recursion.within.all() == Approx(6 * kMs));
}

TEST_CASE("control-flow: a generator's stretches are one call") {
  RegionTrace made;
  made.begin(10);
  made.call(10, kForward);
  for (int i = 0; i < 3; ++i) {
    made.call(11 + i, kHelper, made.place(kForward, 2), i > 0 ? 1 : 0);
    made.op(11.4 + i, 0.1, kAdd, made.place(kHelper, 0));
    made.returns(11.5 + i);
    if (i < 2) made.op(11.8 + i, 0.1, kAdd, made.place(kForward, 4));
  }
  made.returns(14);
  made.end(14);
  const Told told(made);
  REQUIRE(told.regions.at(0).activations.size() == 2);
  CHECK(told.regions[0].activations[1].stretches.size() == 3);
  const controlflow::Construct& loop = told.loop(11);
  CHECK(loop.iterations == 2);
  CHECK(told.answers[0].parts.all() == Approx(4 * kMs));
}

TEST_CASE("control-flow: where calls were not recorded, places tell of those that called operators") {
  RegionTrace made;
  made.begin(10);
  made.define<Kind::place>(1, at(0), std::uint64_t{7}, made.place(kForward, 4), kHelper, std::uint64_t{20},
                           std::uint64_t{0});
  for (int i = 0; i < 3; ++i) {
    made.op(11 + i, 0.5, kAdd, 7);
    made.op(11.5 + i, 0.1, kAdd, made.place(kForward, 12));
  }
  made.end(15);
  const Told told(made);
  CHECK_FALSE(told.answers.at(0).calls_seen);
  const controlflow::Construct& loop = told.loop(11);
  CHECK(loop.iterations == 3);  // the last one is not complete
  CHECK(loop.lower_bound);
}
