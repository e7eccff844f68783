// What is said first of a region, and what is advised.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "made_regions.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

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

TEST_CASE("control-flow: where recording took most of a call, no gain is told") {
  for (const double cost_ms : {7.0, 8.0}) {
    INFO(cost_ms);
    RegionTrace made;
    made.begin(10);
    made.call(10, kHelper);
    made.op(11, 0.5, kAdd, made.place(kHelper, 0));
    made.returns(20);
    made.end(20, 0, 0, cost_ms);
    const Told told(made);
    const controlflow::RegionAnswer& answer = told.answers.at(0);
    const bool hidden = cost_ms > 7.5;
    CHECK(answer.is_hidden() == hidden);
    CHECK(controlflow::control_flow_text(told.answers, 12, Terminal{}).starts_with("Recording took ") ==
          hidden);
    CHECK(controlflow::control_flow_findings(answer).empty() == hidden);
    CHECK(controlflow::control_flow_json(told.answers)["regions"][0]["what_if"].is_null() == hidden);
  }
}

TEST_CASE("control-flow: what an inner loop extracts is not what a test behind it reads") {
  // for …: a test of a tensor   (lines 11 and 12)
  // if …: a call                (line 13: test at 8; line 14: call at 10)
  // a call                      (line 15)
  constexpr std::uint64_t kBehind = 3;
  Assembly code;
  code.add(kNop, 0, 10).add(kForIter, 2, 11).add(kCall, 0, 12).add(kJumpBackward, 3, 11);
  code.add(kJumpIfFalse, 1, 13).add(kCall, 0, 14).add(kCall, 0, 15).add(kReturn, 0, 16);
  RegionTrace made;
  made.code(kBehind, "Model.behind", code);
  made.begin(10);
  made.call(10, kBehind);
  for (int i = 0; i < 3; ++i) made.op(11 + i, 0.9, kTruth, made.place(kBehind, 4));
  made.op(15, 0.5, kAdd, made.place(kBehind, 10));
  made.op(16, 0.5, kAdd, made.place(kBehind, 12));
  made.returns(17);
  made.end(17);
  const Told told(made);
  const controlflow::Construct& branch = told.branch(13);
  CHECK(branch.taken == 1);
  CHECK(!branch.data_dependent);
}

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
  const controlflow::Construct& loop = told.loop(11);
  CHECK(loop.entries == 2);
  CHECK(loop.iterations == 6);
  CHECK(told.answers[0].constructs.size() == 2);
  std::size_t tests = 0;
  for (const std::string& text : findings_of(told)) tests += text.starts_with("The test") ? 1 : 0;
  CHECK(tests == 1);
}
