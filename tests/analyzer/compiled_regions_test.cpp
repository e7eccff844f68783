// What torch.compile says of a region: graph breaks with what they cost, and compiling again; expected values
// by hand.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "answers/controlflow/compiled_views.hpp"
#include "made_regions.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

namespace {

constexpr const char* kFile = "/home/me/model.py";
constexpr std::uint64_t kCaller = 10, kGraph = 11, kModel = 12, kBehind9 = 13, kBehind20 = 14, kApart = 15,
                        kBehind9Again = 16;
constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

class CompiledTrace : public RegionTrace {
 public:
  CompiledTrace() {
    function(kCaller, "DisableContext.<locals>._fn", "/lib/torch/_dynamo/eval_frame.py");
    function(kGraph, "forward", "<eval_with_key>.1");
    function(kModel, "model", kFile, 7);
    function(kBehind9, "torch_dynamo_resume_in_model_at_9", kFile, 9);
    function(kBehind9Again, "torch_dynamo_resume_in_model_at_9", kFile, 9);
    function(kBehind20, "torch_dynamo_resume_in_apart_at_20", kFile, 20);
    function(kApart, "apart", kFile, 19);
  }

  void breaks(std::uint64_t line, const char* reason, const char* function = "model") {
    define<Kind::graph_break>(1, at(0), std::uint64_t{1}, std::string(function), std::string(kFile), line,
                              std::string(reason));
  }
  void compiled(const char* function, std::uint64_t line, std::uint64_t region, const char* why,
                std::uint64_t took_ms = 1) {
    define<Kind::compilation>(1, at(0), region, std::string(function), std::string(kFile), line,
                              took_ms == 0 ? kUnknown : took_ms * 1'000'000, std::uint64_t{5}, kUnknown,
                              std::uint64_t{1}, std::string(why), std::string());
  }
  // From `ms` to one ms later, with an operator.
  void graph(double ms) {
    call(ms, kCaller);
    call(ms + 0.1, kGraph);
    op(ms + 0.5, 0.3, kAdd, place(kGraph, 0));
    returns(ms + 0.9);
    returns(ms + 1);
  }
};

}  // namespace

TEST_CASE("compiled: a break costs what is between the graph before it and the one behind it") {
  CompiledTrace made;
  made.breaks(9, "print\n  more");
  made.begin(10);
  made.call(10, kModel);
  made.graph(11);
  // A function that is not to be compiled is called as graphs are.
  made.call(12.5, kCaller);
  made.call(12.6, kApart);
  made.op(13.5, 0.5, kAdd, made.place(kApart, 0));
  made.returns(14);
  made.returns(14.5);
  made.call(15, kBehind9);
  made.graph(16);
  made.returns(18);
  made.returns(19);
  made.end(20);
  const Told told(made);
  const auto& breaks = told.answers.at(0).compilation.breaks;
  REQUIRE(breaks.size() == 1);
  CHECK(breaks[0].known);
  CHECK(breaks[0].calls == 1);
  CHECK(breaks[0].reasons == std::vector<std::string>{"print"});
  CHECK(breaks[0].python_ns == Approx(3.5 * kMs));  // from 12 to 16
  CHECK(breaks[0].operators_ns == Approx(0.5 * kMs));
}

TEST_CASE("compiled: several breaks at a line are one, with all reasons, and each time counts once") {
  CompiledTrace made;
  made.breaks(9, "print");
  made.breaks(9, "item", "torch_dynamo_resume_in_model_at_8");
  made.breaks(9, "print");
  made.begin(10);
  made.call(10, kModel);
  made.graph(11);
  made.call(13, kBehind9);
  made.call(14, kBehind9Again);
  made.graph(16);
  made.returns(18);
  made.returns(18);
  made.returns(19);
  made.end(20);
  const Told told(made);
  const auto& breaks = told.answers.at(0).compilation.breaks;
  REQUIRE(breaks.size() == 1);
  CHECK(breaks[0].times == 3);
  CHECK(breaks[0].calls == 2);
  CHECK(breaks[0].reasons == std::vector<std::string>{"print", "item"});
  CHECK(breaks[0].python_ns == Approx(4 * kMs));  // from 12 to 16
  const auto json = controlflow::control_flow_json(told.answers);
  CHECK(json["regions"][0]["compilation"]["graph_breaks"][0]["reasons"].size() == 2);
}

TEST_CASE("compiled: each line's break has its own time, in a loop as often as it is met") {
  CompiledTrace made;
  made.breaks(9, "print");
  made.breaks(20, "item", "apart");
  made.begin(10);
  for (int i = 0; i < 2; ++i) {
    const double ms = 10 + 20 * i;
    made.call(ms, kModel);
    made.graph(ms + 1);
    made.call(ms + 5, kBehind9);
    made.graph(ms + 6);
    made.returns(ms + 8);
    made.returns(ms + 8);
    made.call(ms + 9, kApart);
    made.graph(ms + 10);
    made.call(ms + 12, kBehind20);
    made.graph(ms + 13);
    made.returns(ms + 15);
    made.returns(ms + 15);
  }
  made.end(50);
  const Told told(made);
  const auto& breaks = told.answers.at(0).compilation.breaks;
  REQUIRE(breaks.size() == 2);  // what costs most first
  CHECK(breaks[0].source.line == 9);
  CHECK(breaks[0].calls == 2);
  CHECK(breaks[0].python_ns == Approx(8 * kMs));  // 2 to 6, twice
  CHECK(breaks[1].source.line == 20);
  CHECK(breaks[1].calls == 2);
  CHECK(breaks[1].python_ns == Approx(4 * kMs));  // 11 to 13, twice
}

TEST_CASE("compiled: a break in a function that was part of the graph has the time around its call, too") {
  CompiledTrace made;
  made.breaks(20, "print", "apart");
  made.begin(10);
  made.call(10, kModel);
  made.graph(11);
  made.call(13, kApart);  // from here compiled as its own
  made.call(14, kBehind20);
  made.graph(15);
  made.returns(17);
  made.returns(18);
  made.call(19, kBehind9);
  made.graph(21);
  made.returns(23);
  made.returns(24);
  made.end(25);
  const Told told(made);
  const auto& breaks = told.answers.at(0).compilation.breaks;
  REQUIRE(breaks.size() == 1);
  CHECK(breaks[0].calls == 1);
  CHECK(breaks[0].python_ns == Approx((1 + 2 + 3) * kMs));  // 12 to 13, 13 to 15, 18 to 21
}

TEST_CASE("compiled: what a break costs is not known where what goes on behind it, or no graph, was called") {
  CompiledTrace made;
  made.breaks(9, "print");
  made.breaks(30, "item", "torch_dynamo_resume_in_torch_dynamo_resume_in_apart_at_20_at_22");
  made.begin(10);
  made.call(10, kModel);
  made.call(12, kBehind9);  // and whatever a graph is here
  made.returns(14);
  made.returns(15);
  made.end(16);
  const Told told(made);
  const auto json = controlflow::control_flow_json(told.answers);
  const auto& rows = json["regions"][0]["compilation"]["graph_breaks"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[1]["function"] == "apart");
  for (const auto& row : rows) {
    CHECK(row["calls"].is_null());
    CHECK(row["python_s"].is_null());
    CHECK(row["operators_s"].is_null());
  }
}

TEST_CASE("compiled: what was compiled again, why, and that such a call is no usual one") {
  CompiledTrace made;
  made.compiled("model", 7, 1, "");
  made.compiled("model", 7, 3, "size mismatch\nmore", 4);
  made.compiled("model", 7, 3, "size mismatch\nmore");
  made.compiled("apart", 19, 0, "", 0);
  for (std::uint64_t i = 0; i < 6; ++i) {
    const double ms = 10 + 20 * static_cast<double>(i);
    made.begin(ms, i);
    made.call(ms, kModel);
    made.graph(ms + 1);
    made.returns(ms + (i == 2 ? 15 : 3));
    made.end(ms + (i == 2 ? 15 : 3), i);
  }
  const Told told(made);
  const controlflow::RegionAnswer& answer = told.answers.at(0);
  CHECK(answer.compilation.compiling_calls == 2);
  CHECK(answer.usual);
  CHECK(answer.parts.all() == Approx(3 * kMs));
  CHECK(answer.compilation.inside_ns == Approx(6 * kMs));
  REQUIRE(answer.compilation.functions.size() == 2);
  const controlflow::CompiledFunction& model = answer.compilation.functions[0];
  CHECK(model.compiled == 3);
  CHECK(model.again == 2);
  CHECK(model.calls == 1);
  CHECK(model.reasons == std::vector<std::string>{"size mismatch"});
  CHECK(model.took_ns == std::optional<double>(6 * kMs));
  CHECK_FALSE(answer.compilation.functions[1].took_ns.has_value());
  CHECK(answer.compilation.functions[1].calls == 0);
}

namespace {

controlflow::GraphBreakAnswer broken_at(std::uint64_t line, double python_ms) {
  controlflow::GraphBreakAnswer broken;
  broken.source = {kFile, "model", line};
  broken.reasons = {"print"};
  broken.known = true;
  broken.python_ns = python_ms * kMs;
  return broken;
}

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("compiled: up to three breaks that cost much are advised on, and the first from less on") {
  controlflow::Parts call;
  call.python = 100 * kMs;
  controlflow::CompiledAnswer answer;
  answer.breaks = {broken_at(9, 15), broken_at(10, 13), broken_at(11, 4)};
  auto findings = controlflow::compiled_findings(answer, call);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].find("model.py:9 ") != std::string::npos);
  CHECK(findings[0].find("model.py:10 ") != std::string::npos);
  CHECK(findings[0].find("13.0 %") != std::string::npos);
  CHECK(findings[0].find("model.py:11 ") == std::string::npos);
  answer.breaks = {broken_at(9, 15), broken_at(10, 13), broken_at(11, 12), broken_at(12, 11)};
  findings = controlflow::compiled_findings(answer, call);
  REQUIRE(findings.size() == 1);
  CHECK(times_in(findings[0], "of the call's time") == 3);
  answer.breaks = {broken_at(9, 3)};
  CHECK(controlflow::compiled_findings(answer, call).size() == 1);
  answer.breaks = {broken_at(9, 1)};
  CHECK(controlflow::compiled_findings(answer, call).empty());
}

TEST_CASE("compiled: a number that guards compare is told in words, where the reason is of that kind") {
  const auto told = [](const char* why) {
    controlflow::CompiledAnswer answer;
    controlflow::CompiledFunction function;
    function.source = {kFile, "model", 7};
    function.compiled = 2;
    function.again = 1;
    function.reasons = {why};
    answer.functions = {function};
    return controlflow::compiled_findings(answer, {}).at(0);
  };
  CHECK(told("2/0: ___stack0 == 0.2186  # if y.mean().item() > 0.1:").find("was read from a tensor") !=
        std::string::npos);
  const std::string other = told("0/0: L['scale'] == -2.5e-05");
  CHECK(other.find("A number had become a constant") != std::string::npos);
  CHECK(other.find("read from a tensor") == std::string::npos);
  for (const char* why :
       {"0/0: L['n'] == 3", "tensor 'x' size mismatch at index 0. expected 4, actual 5", "a == "})
    CHECK(told(why).find("constant") == std::string::npos);
}

TEST_CASE("compiled: what guards take is of functions that were compiled, and is no more than Python") {
  controlflow::CompiledAnswer answer;
  controlflow::CompiledFunction failed, made;
  failed.source = made.source = {kFile, "model", 7};
  failed.failed = 1;
  failed.calls = made.calls = 4;
  made.compiled = 1;
  made.check_ns = 100;
  answer.functions = {failed, made};
  answer.compiling_calls = 1;
  controlflow::Parts call;
  call.python = 1000;
  CHECK(answer.guards_at_most_ns(call.python) == std::optional<double>(400));
  std::string text = controlflow::compiled_summary(answer, call);
  CHECK(text.find("at most 400 ns") != std::string::npos);
  CHECK(text.find("in 1 recorded call;") != std::string::npos);
  call.python = 300;
  text = controlflow::compiled_summary(answer, call);
  CHECK(text.find("upper bound") != std::string::npos);
  CHECK(text.find("newer ones do") == std::string::npos);
  answer.functions[1].check_ns.reset();
  CHECK(controlflow::compiled_summary(answer, call).find("newer ones do") != std::string::npos);
}
