// What torch.compile says of a region: graph breaks with what they cost, and compiling again; expected values
// by hand.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

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
