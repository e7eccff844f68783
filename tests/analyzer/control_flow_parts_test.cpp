// What of a region's time is work, control flow, Python and recording, and which calls tell it.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "answers/controlflow/measured.hpp"
#include "made_regions.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

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
  const controlflow::Construct& branch = told.branch(13);
  CHECK(branch.data_dependent);
  CHECK(branch.taken == 1);
  CHECK(branch.test.control == Approx(0.3 * kMs));
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
  const controlflow::Construct& branch = told.branch(13);
  CHECK(branch.data_dependent);
  CHECK(branch.taken == 2);
  CHECK(branch.not_taken == 1);
  CHECK(branch.decides().untraced() == Approx(3 * kMs));
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
  // The recorder's prices may be far too low, or far too high where the machine was busy as they were made.
  for (const double said : {0.4, 12.0}) {
    INFO(said);
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
      made.end(from + (only_timed ? 1.8 : 3), i, only_timed ? 4 : 0, only_timed ? 0 : said);
    }
    const Told told(made);
    REQUIRE(told.answers.size() == 1);
    CHECK(told.answers[0].timed == 8);
    CHECK(told.answers[0].parts.all() == Approx(3 * kMs));
    CHECK(told.answers[0].parts.tracing == Approx(1.2 * kMs));
    CHECK(told.answers[0].parts.native == Approx(1 * kMs));
  }
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

TEST_CASE("control-flow: functions of one name are told apart, and calls that were only timed are of none") {
  constexpr std::uint64_t kOnlyTime = 4;
  for (const bool two : {false, true}) {
    INFO(two);
    RegionTrace regions;
    constexpr std::uint64_t kOther = 3;
    regions.function(kOther, "Model.forward", "/home/me/other.py", 20);
    double ms = 10;
    for (int i = 0; i < 4; ++i) {
      const bool other = two && i % 2 == 1;
      const double took = other ? 5 : 2;
      regions.begin(ms, i);
      regions.call(ms, other ? kOther : kForward);
      regions.op(ms + took, took - 0.1, kAdd, regions.place(other ? kOther : kForward, 4));
      regions.returns(ms + took);
      regions.end(ms + took, i);
      ms += 10;
    }
    regions.begin(ms, 4);
    regions.end(ms + 1, 4, kOnlyTime);
    const Told told(regions);
    REQUIRE(told.answers.size() == (two ? 2 : 1));
    CHECK(told.answers[0].name == (two ? "Model.forward (other.py:20)" : "Model.forward"));
    CHECK(told.answers[0].recorded == (two ? 2 : 4));
    CHECK(told.answers[0].timed == (two ? 0 : 1));
    CHECK(told.answers[0].parts.all() == Approx((two ? 5 : 2) * kMs));
  }
}
