// Profiles of the PyTorch profiler: both time formats, and clear errors for other files.
#include <doctest/doctest.h>

#include <string>

#include "made_trace.hpp"
#include "showing/timeline/torch_profile.hpp"
#include "text/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

Bytes file_of(const std::string& text) { return {text.begin(), text.end()}; }

std::vector<ProfileEvent> events_of(const std::string& text) {
  const TemporaryFile file(file_of(text), ".json");
  std::vector<ProfileEvent> events;
  const TorchProfile profile(file.path());
  profile.each([&](const ProfileEvent& event) { events.push_back(event); });
  return events;
}

std::string complaint(const std::string& text) {
  const TemporaryFile file(file_of(text), ".json");
  try {
    const TorchProfile profile(file.path());
  } catch (const Unusable& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("µs as decimal text become ns, exactly") {
  CHECK(ns_of_micros("0") == 0);
  CHECK(ns_of_micros("1") == 1000);
  CHECK(ns_of_micros("4407024488642.294") == 4'407'024'488'642'294);
  CHECK(ns_of_micros("1795265058836207.1") == 1'795'265'058'836'207'100);
  CHECK(ns_of_micros("0.0019") == 1);
  CHECK(ns_of_micros("-1.5") == -1500);
  CHECK(ns_of_micros("1.5e3") == 1'500'000);
  for (const char* text :
       {"", "-", "x", "1x", "1e300", "nan", "99999999999999999999", "--9223372036854775807"})
    CHECK_MESSAGE(!ns_of_micros(text).has_value(), text);
}

TEST_CASE("old form: µs since the epoch; new form: µs since baseTimeNanoseconds, wherever it stands") {
  const std::string one = R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":100,"tid":100,"dur":2.5,"ts":)";
  for (const std::string& text :
       {R"({"traceEvents":[)" + one + "1700000000000001.25}]}",
        R"({"baseTimeNanoseconds":1699999999000000000,"traceEvents":[)" + one + "1000001.25}]}",
        R"({"traceEvents":[)" + one + R"(1000001.25}],"baseTimeNanoseconds":1699999999000000000})",
        "[" + one + "1700000000000001.25}]"}) {
    const auto events = events_of(text);
    REQUIRE_MESSAGE(events.size() == 1, text);
    CHECK(events[0].start == 1'700'000'000'000'001'250);
    CHECK(events[0].ns == 2500);
    CHECK(events[0].name == "aten::mm");
    CHECK(events[0].category == "cpu_op");
    CHECK(events[0].phase == "X");
    CHECK(events[0].pid == "100");
  }
}

TEST_CASE("members that nobody asked for come through as they are") {
  const auto events = events_of(
      R"({"other":{"deep":[1,{"traceEvents":[{}]}]},"traceEvents":[7,[{"ph":"X"}],
          {"ph":"X","name":"a\n\"b\"","pid":"Spans","tid":{"x":[]},"ts":1700000000000000,"dur":1,"id":-3,
           "flag":true,"none":null,"args":{"Input Dims":[[2,3],[]],"scale":1.50,"deep":{"a":{}}}},
          {"ph":"s","name":"ac2g","id":9,"pid":1,"tid":2,"ts":1700000000000001}]})");
  REQUIRE(events.size() == 2);
  CHECK(events[0].name == "a\n\"b\"");
  CHECK(events[0].pid == "\"Spans\"");
  CHECK(events[0].tid == R"({"x":[]})");
  CHECK(events[0].args == R"({"Input Dims":[[2,3],[]],"scale":1.50,"deep":{"a":{}}})");
  REQUIRE(events[0].others.size() == 3);
  CHECK(events[0].others[0].name == "id");
  CHECK(events[0].others[0].json == "-3");
  CHECK(events[0].others[1].json == "true");
  CHECK(events[0].others[2].json == "null");
  CHECK(events[1].phase == "s");
}

TEST_CASE("what is no profile is an error that says so") {
  CHECK(says(complaint("LOTUS\r\n"), "is no JSON at byte 1"));
  CHECK(says(complaint(""), "is no JSON"));
  CHECK(says(complaint(R"({"traceEvents":[{"ph":"X","ts":1700000000000000)"), "and whole?"));
  CHECK(says(complaint("\x1f\x8b\x08"), "gunzip"));
  CHECK(says(complaint("{}"), "it has no traceEvents"));
  CHECK(says(complaint("42"), "it has no traceEvents"));
  CHECK(says(complaint("[]"), "no event with a time"));
  CHECK(says(
      complaint(R"([{"name":"aten::randn","ph":"X","ts":227,"dur":32432,"tid":1,"pid":"CPU functions"}])"),
      "does not say when that was"));
  CHECK_THROWS_AS(TorchProfile("/nonexistent.json"), Unusable);
}

TEST_CASE("times that cannot be are refused, or left out where they are an event's own affair") {
  const std::string span = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1700000000000000,"dur":1},)";
  const std::string based = R"({"baseTimeNanoseconds":9000000000000000000,"traceEvents":[)";
  CHECK(says(complaint(based + span + "{}]}"), "does not say when that was"));
  const std::string late = R"({"ph":"X","name":"b","ts":3999999999999999})";
  CHECK(says(complaint(R"({"baseTimeNanoseconds":1000000000000000000,"traceEvents":[)" + span + late + "]}"),
             "after the year 2115"));
  const std::string odd = R"({"ph":"i","name":"b","ts":-3999999999999999})";
  for (const std::string base : {"0", "100000000000000000"}) {
    const auto events =
        events_of(R"({"baseTimeNanoseconds":)" + base + R"(,"traceEvents":[)" + span + odd + "]}");
    REQUIRE(events.size() == 2);
    CHECK(events[0].start.has_value());
    CHECK(!events[1].start.has_value());
  }
}

TEST_CASE("brackets inside each other: as many as a profile has, and not without end") {
  const auto nested = [](std::size_t depth) {
    return R"([{"ph":"X","ts":1700000000000000,"args":{"deep":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}}]";
  };
  CHECK(events_of(nested(100)).size() == 1);
  CHECK(says(complaint(nested(1'000'000)), "too many brackets"));
}

TEST_CASE("a profile of another run is refused: by time, by process") {
  const TemporaryFile file(
      file_of(
          R"({"traceEvents":[{"ph":"X","name":"a","pid":100,"tid":1,"ts":1700000000000000,"dur":1000000}]})"),
      ".json");
  const TorchProfile profile(file.path());
  Process training;
  training.number = 1;
  training.pid = 100;
  Lanes known;
  known.pid_of(training);
  CHECK_NOTHROW(profile.check_same_run("x", realtime(500), realtime(5000), known));
  CHECK_THROWS_AS(profile.check_same_run("x", realtime(1001), realtime(5000), known), Unusable);
  CHECK_THROWS_AS(profile.check_same_run("x", realtime(-50), realtime(-1), known), Unusable);
  CHECK_THROWS_AS(profile.check_same_run("x", realtime(500), realtime(5000), Lanes()), Unusable);
}
