// Regions: what is work, what is control flow, what is Python; expected values by hand.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "answers/controlflow/measured.hpp"
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
  const controlflow::Construct* loop = told.find(ConstructKind::loop, 11);
  REQUIRE(loop != nullptr);
  CHECK(loop->entries == 1);
  CHECK(loop->iterations == 3);
  CHECK(loop->operators == 8);
  CHECK_FALSE(loop->lower_bound);
  CHECK_FALSE(loop->data_dependent);
  CHECK(loop->own.native == Approx(1.6 * kMs));
  CHECK(loop->own.python + answer.outside.python == Approx(6.4 * kMs));
  const controlflow::Construct* branch = told.find(ConstructKind::branch, 13);
  REQUIRE(branch != nullptr);
  CHECK(branch->taken == 2);
  CHECK(branch->not_taken == 1);
  CHECK(branch->unknown == 0);
  CHECK(branch->joins);
  CHECK(branch->taken_time.native == Approx(0.4 * kMs));
  CHECK(branch->not_taken_time.native == 0);
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
    const controlflow::Construct* loop = told.find(ConstructKind::loop, line);
    REQUIRE(loop != nullptr);
    CHECK_FALSE(loop->exact);
    CHECK_FALSE(loop->lower_bound);
  }
  CHECK(told.find(ConstructKind::loop, 12)->iterations == 4);
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
  const controlflow::Construct* loop = told.find(ConstructKind::loop, 11);
  REQUIRE(loop != nullptr);
  CHECK(loop->iterations == 4);
  CHECK(loop->exact);
  const controlflow::Construct* branch = told.find(ConstructKind::branch, 13);
  REQUIRE(branch != nullptr);
  CHECK(branch->taken == 4);
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
  const controlflow::Construct* behind = told.find(ConstructKind::loop, 15);
  REQUIRE(behind != nullptr);
  CHECK(behind->entries == 1);
  CHECK(behind->iterations == 3);
  CHECK(behind->exact);
  const controlflow::Construct* around = told.find(ConstructKind::loop, 11);
  REQUIRE(around != nullptr);
  CHECK(around->iterations == 1);
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
    const controlflow::Construct* loop = told.find(ConstructKind::loop, 11);
    REQUIRE(loop != nullptr);
    CHECK(loop->iterations == 3);
    CHECK(loop->exact == known);
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
  const controlflow::Construct* loop = told.find(ConstructKind::loop, 11);
  REQUIRE(loop != nullptr);
  CHECK(loop->iterations == 4);
  CHECK(loop->exact);
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
  const controlflow::Construct* loop = told.find(ConstructKind::loop, 11);
  REQUIRE(loop != nullptr);
  CHECK(loop->entries == 1);
  CHECK(loop->iterations == 3);
  CHECK(loop->exact);
  CHECK(told.find(ConstructKind::branch, 11) == nullptr);
}

TEST_CASE("control-flow: what only serves a test is control, what outlives the region is not") {
  RegionTrace made;
  made.begin(10);
  made.call(10, kForward);
  // 4: add makes 2000 (kept), and 12: add makes 3000, of which 6 tests a view. Then 2000 is used by nobody.
  made.operand(10.1, 1000, false);
  made.allocated(10.15, 2000);
  made.operand(10.2, 2000, true);
  made.op(10.2, 0.1, kAdd, made.place(kForward, 4));
  made.operand(10.3, 2000, false);
  made.operand(10.4, 2000, true, 16);
  made.op(10.4, 0.1, kSelect, made.place(kForward, 4));
  made.operand(10.5, 2000, false, 16);
  made.allocated(10.55, 3000);
  made.operand(10.6, 3000, true);
  made.op(10.6, 0.1, kAdd, made.place(kForward, 4));
  made.operand(10.7, 3000, false);
  made.op(10.8, 0.1, kTruth, made.place(kForward, 6));
  made.released(10.9, 3000);
  // The address comes again, for work that stays.
  made.operand(11.3, 1000, false);
  made.allocated(11.35, 3000);
  made.operand(11.4, 3000, true);
  made.op(11.4, 0.1, kAdd, made.place(kForward, 8));
  made.operand(11.5, 3000, false);
  made.op(11.6, 0.1, kAdd, made.place(kForward, 12));
  made.returns(12);
  made.end(12);
  const Told told(made);
  const controlflow::DataFlow flow(told.regions.at(0));
  CHECK(flow.control() == std::vector<bool>{false, true, true, true, false, false});
  CHECK(flow.serves()[1] == 3);
  CHECK(told.answers[0].parts.control == Approx(0.3 * kMs));
  CHECK(told.answers[0].control_operators == 3);
  const controlflow::Construct* branch = told.find(ConstructKind::branch, 13);
  REQUIRE(branch != nullptr);
  CHECK(branch->data_dependent);
  CHECK(branch->taken == 1);
  CHECK(branch->test.control == Approx(0.3 * kMs));
}

TEST_CASE("control-flow: work that a side needs in another visit is not what deciding takes") {
  RegionTrace made;
  made.begin(10);
  made.call(10, kForward);
  // Three times: 4: add makes 2000 in 5 ms, and is_nonzero reads it in 1 ms; 8, but for the second time: a
  // side that uses 2000, in 2 ms; 12: an add.
  double ms = 10;
  for (int i = 0; i < 3; ++i) {
    made.allocated(ms + 0.1, 2000);
    made.operand(ms + 5, 2000, true);
    made.op(ms + 5, 5, kAdd, made.place(kForward, 4));
    made.operand(ms + 6, 2000, false);
    made.op(ms + 6, 1, kTruth, made.place(kForward, 4));
    ms += 6;
    if (i != 1) {
      made.operand(ms + 2, 2000, false);
      made.op(ms + 2, 2, kAdd, made.place(kForward, 8));
      ms += 2;
    }
    made.released(ms, 2000);
    made.op(ms + 1, 1, kAdd, made.place(kForward, 12));
    ms += 1;
  }
  made.returns(ms);
  made.end(ms);
  const Told told(made);
  const controlflow::Construct* branch = told.find(ConstructKind::branch, 13);
  REQUIRE(branch != nullptr);
  CHECK(branch->data_dependent);
  CHECK(branch->taken == 2);
  CHECK(branch->not_taken == 1);
  CHECK(branch->decides().untraced() == Approx(3 * kMs));
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
  const controlflow::Construct* recursion = told.find(ConstructKind::recursion, 10);
  REQUIRE(recursion != nullptr);
  CHECK(recursion->calls == 3);
  CHECK(recursion->depth == 2);
  CHECK(recursion->calls_by_depth == std::vector<std::uint64_t>{1, 2});
  CHECK(recursion->by_depth[0].all() == Approx(3 * kMs));
  CHECK(recursion->by_depth[1].all() == Approx(3 * kMs));
  CHECK(recursion->within.all() == Approx(6 * kMs));
}

TEST_CASE("control-flow: what recording took is no Python, and no time becomes negative") {
  RegionTrace made;
  made.define<Kind::lane_cost>(1, at(0), std::uint64_t{200'000'000}, std::uint64_t{0}, std::uint64_t{0},
                               std::uint64_t{0},
                               std::uint64_t{50'000'000});  // 0.2 ms around an operator, 0.05 ms inside of it
                                                            // for each that it calls
  made.begin(10);
  made.call(10, kHelper);
  made.op(10.3, 0.2, kAdd, made.place(kHelper, 0), 1);
  made.op(10.6, 0.2, kAdd, made.place(kHelper, 0), 20);  // 1 ms of 0.2
  made.returns(12);
  made.end(12);
  const Told told(made);
  const controlflow::Parts& parts = told.answers.at(0).parts;
  CHECK(parts.native == Approx(0.15 * kMs));
  CHECK(parts.tracing == Approx((0.4 + 0.05 + 0.2) * kMs));
  CHECK(parts.all() == Approx(2 * kMs));
  CHECK(parts.python == Approx(1.2 * kMs));
}

TEST_CASE("control-flow: calls that were only timed tell what recording the others took") {
  RegionTrace made;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const double from = 10 + 10 * static_cast<double>(i);
    const bool only_timed = i > 5;
    made.begin(from, i);
    if (!only_timed) {
      made.call(from, kHelper);
      made.op(from + 1, 0.5, kAdd, made.place(kHelper, 0));
      made.returns(from + 3);
    }
    made.end(from + (only_timed ? 1.8 : 3), i, only_timed ? 4 : 0, only_timed ? 0 : 1);
  }
  const Told told(made);
  REQUIRE(told.answers.size() == 1);
  CHECK(told.answers[0].timed == 4);
  CHECK(told.answers[0].recorded == 6);
  CHECK(told.answers[0].parts.all() == Approx(3 * kMs));
  CHECK(told.answers[0].parts.tracing == Approx(1.2 * kMs).epsilon(0.2));  // not the 1 ms that were said
  CHECK(told.answers[0].parts.untraced() < 1.95 * kMs);
}

TEST_CASE("control-flow: of many calls that were only timed more is believed") {
  RegionTrace made;
  for (std::uint64_t i = 0; i < 36; ++i) {
    const double from = 10 + 10 * static_cast<double>(i);
    const bool only_timed = i >= 4 && i % 4 == 0;
    made.begin(from, i);
    if (!only_timed) {
      made.call(from, kHelper);
      made.op(from + 1, 0.5, kAdd, made.place(kHelper, 0));
      made.op(from + 2, 0.5, kAdd, made.place(kHelper, 0));
      made.returns(from + 3);
    }
    made.end(from + (only_timed ? 1.8 : 3), i, only_timed ? 4 : 0, only_timed ? 0 : 0.4);
  }
  const Told told(made);
  REQUIRE(told.answers.size() == 1);
  CHECK(told.answers[0].timed == 8);
  CHECK(told.answers[0].parts.all() == Approx(3 * kMs));
  CHECK(told.answers[0].parts.tracing == Approx(1.2 * kMs));  // three times what was said
  CHECK(told.answers[0].parts.native == Approx(1 * kMs));
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
  const controlflow::Construct* loop = told.find(ConstructKind::loop, 11);
  REQUIRE(loop != nullptr);
  CHECK(loop->iterations == 2);
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
  const controlflow::Construct* loop = told.find(ConstructKind::loop, 11);
  REQUIRE(loop != nullptr);
  CHECK(loop->iterations == 3);  // the last one is not complete
  CHECK(loop->lower_bound);
}

TEST_CASE(
    "control-flow: the first call of many is left out, and of more than a few the slowest and fastest") {
  RegionTrace made;
  for (std::uint64_t i = 0; i < 9; ++i) {
    const double from = 10 + 100 * static_cast<double>(i);
    made.begin(from, i);
    made.call(from, kHelper);
    made.op(from + 1, 0.5, kAdd, made.place(kHelper, 0));
    const double took = i == 0 ? 90 : i == 5 ? 50 : 2;
    made.returns(from + took);
    made.end(from + took, i);
  }
  const Told told(made);
  CHECK(told.answers.at(0).recorded == 9);
  CHECK(told.answers[0].used == 4);
  CHECK(told.answers[0].parts.all() == Approx(2 * kMs));
}

TEST_CASE("control-flow: a region that is cut off, or of unknown bytecode, is told with what is known") {
  RegionTrace made;
  made.define<Kind::code_table>(1, at(0), kForward, std::string("\xff\xff\xff"), std::string("x"),
                                std::string(), std::uint64_t{1}, std::string("\x80\xff\xff\x81"));
  made.begin(10);
  made.call(10, kForward);
  made.op(11, 0.5, kAdd, made.place(kForward, 4));
  made.op(12, 0.5, kAdd, made.place(kForward, 4000));
  const Told told(made);
  REQUIRE(told.answers.size() == 1);
  CHECK(told.answers[0].lower_bound);
  CHECK_FALSE(told.answers[0].codes_known);
  CHECK(told.answers[0].constructs.empty());
  CHECK_FALSE(controlflow::control_flow_text(told.answers, 12, Terminal{}).empty());
}

TEST_CASE("control-flow: without any region, how to record one is said") {
  CHECK(controlflow::control_flow_text({}, 12, Terminal{}).find("LOTUS_REGION=") != std::string::npos);
  CHECK(controlflow::control_flow_json({})["regions"].empty());
}

TEST_CASE("control-flow: nothing to gain stands first") {
  RegionTrace made;
  made.begin(10);
  made.call(10, kHelper);
  made.op(109.9, 99.8, kAdd, made.place(kHelper, 0));
  made.returns(110);
  made.end(110);
  const Told told(made);
  CHECK(controlflow::control_flow_text(told.answers, 12, Terminal{}).starts_with("Nothing to gain: "));
  CHECK(controlflow::control_flow_findings(told.answers[0]).empty());
  CHECK(controlflow::control_flow_json(told.answers)["regions"][0]["nothing_to_gain"] == true);
}

TEST_CASE("control-flow: much waiting is told, and no gain") {
  RegionTrace made;
  made.begin(10);
  made.call(10, kHelper);
  made.op(15, 4, kAdd, made.place(kHelper, 0));
  made.returns(20);
  made.end(20, 0, 0, 0, 5);
  const Told told(made);
  const controlflow::RegionAnswer& answer = told.answers.at(0);
  REQUIRE(answer.waited_ns.has_value());
  CHECK(*answer.waited_ns == Approx(5 * kMs));
  CHECK(answer.overhead() == Approx(0.6));
  CHECK(answer.overhead_low() == Approx(0.1));
  const auto json = controlflow::control_flow_json(told.answers)["regions"][0];
  CHECK(json["what_if"].is_null());
  CHECK(controlflow::control_flow_findings(answer).empty());
  CHECK(controlflow::control_flow_text(told.answers, 12, Terminal{}).find("did not compute") !=
        std::string::npos);
}

namespace {

// A call of looped(), in each of whose iterations the branch's test takes `test_ms`, and what is behind it
// `rest_ms` more.
void tested_loop(RegionTrace& made, std::uint64_t code, double from, double test_ms, double rest_ms) {
  made.call(from, code);
  double ms = from;
  for (int i = 0; i < 3; ++i) {
    made.operand(ms + 0.1, 1000, false);
    made.op(ms + test_ms, test_ms - 0.1, kTruth, made.place(code, 4));
    made.op(ms + test_ms + 0.1, 0.1, kAdd, made.place(code, 8));
    ms += test_ms + rest_ms + 0.2;
    made.op(ms, 0.1, kAdd, made.place(code, 12));
  }
  made.returns(ms);
}

std::vector<std::string> findings_of(const Told& told) {
  return controlflow::control_flow_findings(told.answers.at(0));
}

}  // namespace

TEST_CASE("control-flow: a test that reads a tensor comes before the loop whose cost it is") {
  RegionTrace made;
  made.begin(10);
  tested_loop(made, kForward, 10, 4, 0.1);
  made.end(22.9);
  const Told told(made);
  const auto findings = findings_of(told);
  REQUIRE(findings.size() >= 1);
  CHECK(findings[0].starts_with("The test at model.py:13 reads a tensor"));
  // What is left of the loop is little.
  for (const std::string& text : findings) CHECK(text.find("The loop at") == std::string::npos);
}

TEST_CASE("control-flow: a loop whose cost is not its tests' comes first, by what it costs") {
  RegionTrace made;
  made.begin(10);
  tested_loop(made, kForward, 10, 1, 4);
  made.end(25.6);
  const Told told(made);
  const auto findings = findings_of(told);
  REQUIRE(findings.size() >= 2);
  CHECK(findings[0].starts_with("The loop at model.py:11"));
  CHECK(findings[1].starts_with("The test at model.py:13 reads a tensor"));
}

TEST_CASE("control-flow: to decide before the loop is advised where the test reads what was there before") {
  // The loop's first operator reads a tensor, a second one makes what the third one extracts: of what was
  // there before the loop, or of what its iterations compute.
  for (const bool computed : {false, true}) {
    INFO(computed);
    RegionTrace made;
    made.begin(10);
    made.call(10, kForward);
    for (int i = 0; i < 3; ++i) {
      const double ms = 10 + 4 * i;
      made.operand(ms + 0.1, 1000, false);
      if (computed) {
        made.operand(ms + 0.2, 1000, true);
        made.op(ms + 0.5, 0.4, kAdd, made.place(kForward, 4));
        made.operand(ms + 0.6, 1000, false);
      }
      made.op(ms + 3, computed ? 2.4 : 2.9, kTruth, made.place(kForward, 4));
      made.op(ms + 3.2, 0.1, kAdd, made.place(kForward, 8));
      made.op(ms + 3.4, 0.1, kAdd, made.place(kForward, 12));
    }
    made.returns(23);
    made.end(23);
    const Told told(made);
    const auto findings = findings_of(told);
    REQUIRE(findings.size() >= 1);
    CHECK(findings[0].starts_with("The test at model.py:13 reads a tensor"));
    CHECK((findings[0].find("before the loop") == std::string::npos) == computed);
    CHECK(findings[0].find("torch.where") != std::string::npos);
  }
}

TEST_CASE("control-flow: the same advice is given once, and one of a thing is no plural") {
  RegionTrace made;
  constexpr std::uint64_t kOther = 3;
  made.code(kOther, "Model.other", looped().add(kNop, 0, 30));
  made.begin(10);
  double ms = 10;
  for (const std::uint64_t code : {kForward, kOther}) {
    made.call(ms, code);
    made.op(ms + 3, 0.1, kAdd, made.place(code, 4));
    made.op(ms + 3.5, 0.1, kAdd, made.place(code, 12));
    ms += 4;
    made.returns(ms);
  }
  made.end(ms);
  const Told told(made);
  const auto findings = findings_of(told);
  REQUIRE(findings.size() >= 2);
  const std::string text = findings[0] + findings[1];
  CHECK(text.find(": 1 iteration a call") != std::string::npos);
  const std::size_t advice = text.find("Compile what it iterates");
  REQUIRE(advice != std::string::npos);
  CHECK(text.find("Compile what it iterates", advice + 1) == std::string::npos);
}

TEST_CASE("control-flow: a function that is defined again is one, and told once") {
  RegionTrace made;
  constexpr std::uint64_t kAgain = 3;
  made.code(kAgain, "Model.forward", looped());
  made.begin(10);
  tested_loop(made, kForward, 10, 4, 0.1);
  tested_loop(made, kAgain, 30, 4, 0.1);
  made.end(45);
  const Told told(made);
  const controlflow::Construct* loop = told.find(ConstructKind::loop, 11);
  REQUIRE(loop != nullptr);
  CHECK(loop->entries == 2);
  CHECK(loop->iterations == 6);
  CHECK(told.answers[0].constructs.size() == 2);
  std::size_t tests = 0;
  for (const std::string& text : findings_of(told)) tests += text.starts_with("The test") ? 1 : 0;
  CHECK(tests == 1);
}

TEST_CASE("control-flow: traces with lost records, or in which all was compiled, are compared with none") {
  const auto answers = [](std::uint64_t incomplete, bool compiled) {
    RegionTrace made;
    for (std::uint64_t i = 0; i < 2; ++i) {
      const double from = 10 + 10 * static_cast<double>(i);
      if (compiled)
        made.define<Kind::compilation>(1, at(0), i + 1, std::string("f"), std::string("f.py"),
                                       std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{1},
                                       std::uint64_t{1}, std::string(), std::string());
      made.begin(from, i);
      made.call(from, kHelper);
      made.op(from + 1, 0.5, kAdd, made.place(kHelper, 0));
      made.returns(from + 3);
      made.end(from + 3, i, incomplete);
    }
    return std::make_unique<Told>(made);
  };
  const auto whole = answers(0, false), cut = answers(1, false), compiled = answers(0, true);
  const auto measured = [](const auto& with, const auto& without) {
    return controlflow::Measured{with->answers.at(0), without->answers.at(0)};
  };
  CHECK(measured(whole, whole).why_not().empty());
  CHECK(measured(whole, cut).why_not().find("in the other trace is recorded to its end") !=
        std::string::npos);
  CHECK(measured(cut, whole).why_not().find("in the first trace is recorded to its end") !=
        std::string::npos);
  CHECK(measured(whole, compiled).why_not().find("compiled something in each whole call") !=
        std::string::npos);
  CHECK(controlflow::measured_json(measured(whole, cut))["overhead"].is_null());
  CHECK(controlflow::measured_json(measured(whole, whole))["overhead"] == 0);
}
