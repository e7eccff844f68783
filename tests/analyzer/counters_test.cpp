// Totals of counters from some of the calls, and what they say together; expected values are calculated by
// hand.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "answers/counters/collector.hpp"
#include "answers/counters/function_views.hpp"
#include "answers/counters/ratios.hpp"
#include "answers/counters/views.hpp"
#include "made_stacks.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

namespace {

constexpr std::size_t kShort = 30, kLong = 40;  // classes of durations

CounterFindings counted(MadeTrace& made) {
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  CounterFindings findings;
  CounterCollector collector(trace, findings);
  show(trace, collector);
  return findings;
}

// An operation of 1 ms, with counts recorded right before its end.
template <class Record>
void call(ThreadWriter& thread, double from, Record record) {
  thread.record<Kind::op>(at(from), std::uint64_t{1});
  record(at(from + 1));
  thread.record<Kind::leave>(at(from + 1));
}

}  // namespace

TEST_CASE("totals: every call measured is exact, none is not known") {
  CallsByDuration calls{};
  MeasuredByDuration measured{};
  calls[kShort] = 2;
  CHECK_FALSE(total_of(calls, measured));
  measured[kShort].add(10);
  CHECK(total_of(calls, measured)->value == 20);
  CHECK_FALSE(total_of(calls, measured)->interval);
  measured[kShort].add(14);
  const auto total = total_of(calls, measured);
  CHECK(total->value == 24);
  CHECK(total->interval->low == 24);
  CHECK(total->interval->high == 24);
}

TEST_CASE("totals: each class of durations has its own mean, a call measured alone is no other's") {
  CallsByDuration calls{};
  MeasuredByDuration measured{};
  calls[kShort] = 100;
  for (int i = 0; i < 4; ++i) measured[kShort].add(10);
  calls[kLong] = 1;
  measured[kLong].add(5000);
  const auto total = total_of(calls, measured);
  CHECK(total->value == 6000);
  CHECK(total->measured == 5);
}

TEST_CASE("totals: calls apart stand for no others") {
  CallsByDuration calls{};
  MeasuredByDuration measured{};
  MeasuredCalls apart;
  apart.add(70'000);
  CHECK(total_of(calls, measured, apart)->value == 70'000);
  CHECK(total_of(calls, measured, apart)->interval->low == 70'000);
  calls[kLong] = 10;
  CHECK_FALSE(total_of(calls, measured, apart));
  for (int i = 0; i < 5; ++i) measured[kLong].add(100);
  const auto total = total_of(calls, measured, apart);
  CHECK(total->value == 71'000);
  CHECK(total->measured == 6);
  CHECK(total->interval->low > 70'500);
}

TEST_CASE("totals: Student's interval of calls that differ") {
  CallsByDuration calls{};
  MeasuredByDuration measured{};
  calls[kShort] = 50;
  for (const double count : {900.0, 1000.0, 1000.0, 1100.0, 1000.0}) measured[kShort].add(count);
  const auto total = total_of(calls, measured);
  CHECK(total->value == 50'000);
  // Variance 5000; 50 × 45 × 5000 / 5 = 2,250,000; t of 4 degrees of freedom: 2.776.
  CHECK(total->interval->high == Approx(50'000 + 2.776 * 1500).epsilon(0.0001));
  CHECK(total->interval->low == Approx(50'000 - 2.776 * 1500).epsilon(0.0001));
}

TEST_CASE("totals: what no measured call had may still be in the others") {
  CallsByDuration calls{};
  MeasuredByDuration measured{};
  calls[kShort] = 1000;
  for (int i = 0; i < 100; ++i) measured[kShort].add(0);
  const auto total = total_of(calls, measured);
  CHECK(total->value == 0);
  CHECK(total->interval->low == 0);
  CHECK(total->interval->high == Approx(9 * 3.689).epsilon(0.001));  // Poisson, nothing seen: 3.689
}

TEST_CASE("counters: groups that are on in turns are scaled, and told; a turn of others is not measured") {
  MadeTrace made;
  made.op(1, 1, OpRole::transform, "Crop");
  made.define<Kind::counting>(1, at(0), std::uint64_t{1}, std::string("instructions"), std::uint64_t{0},
                              std::uint64_t{0});
  ThreadWriter thread(made, 1, 1);
  const auto count = [&](std::uint64_t value, std::uint64_t enabled, std::uint64_t running) {
    return [&thread, value, enabled, running](std::uint64_t ticks) {
      thread.record<Kind::count>(ticks, std::uint64_t{1}, value, enabled, running);
    };
  };
  call(thread, 1, count(1000, 0, 0));
  call(thread, 3, count(250, 1'000'000, 250'000));
  call(thread, 5, count(0, 1'000'000, 0));
  call(thread, 7, [](std::uint64_t) {});
  thread.flush();
  const CounterFindings findings = counted(made);
  REQUIRE(findings.ops.size() == 1);
  const CountedCalls& crop = findings.ops.begin()->second;
  CHECK(crop.calls == 4);
  // The first call is apart, the one of a quarter stands for the three that are left.
  CHECK(crop.total("instructions")->value == 4000);
  CHECK(crop.total("instructions")->measured == 2);
  CHECK(crop.counters.at("instructions").on_percent() == Approx(100 * 1.25 / 3));
  CHECK_FALSE(crop.total("cycles"));
}

TEST_CASE("counters: instructions per cycle, misses per thousand instructions, shares of references") {
  CountedCalls calls;
  calls.calls = 1;
  calls.by_duration[kShort] = 1;
  const auto is = [&](const char* name, double value) { calls.counters[name].measured[kShort].add(value); };
  is("instructions", 4'000'000);
  is("cycles", 2'500'000);
  is("cache-references", 40'000);
  is("cache-misses", 10'000);
  is("branch-misses", 2000);
  const auto value = [&](std::string_view key) -> std::optional<double> {
    for (const RatioRow& row : ratio_rows(nullptr))
      if (const auto ratio = row.key == key ? ratio_of(row, calls) : std::nullopt) return ratio->value;
    return std::nullopt;
  };
  CHECK(*value("ipc") == Approx(1.6));
  CHECK(*value("cache_mpki") == Approx(2.5));
  CHECK(*value("cache_miss_percent") == Approx(25));
  CHECK(*value("branch_mpki") == Approx(0.5));
  CHECK_FALSE(value("branch_miss_percent"));
  CHECK_FALSE(value("dtlb_mpki"));
}

TEST_CASE("counters: what was refused is said, what was not recorded is no zero") {
  MadeTrace made;
  made.op(1, 1, OpRole::transform, "Crop");
  made.define<Kind::counting>(1, at(0), std::uint64_t{1}, std::string("cycles"), std::uint64_t{0},
                              std::uint64_t{2});
  ThreadWriter thread(made, 1, 1);
  call(thread, 1, [](std::uint64_t) {});
  thread.flush();
  const CounterFindings findings = counted(made);
  const auto json = counters_json(findings);
  CHECK(json["ops"].empty());
  CHECK(json["counters"]["cycles"]["errors"].size() == 1);
  CHECK(counters_text(findings, {}).find("cycles (the machine does not offer them") != std::string::npos);
}

TEST_CASE("counters of functions: a sample's counts are those of the function that it hit") {
  MadeTrace made;
  made.op(1, 1, OpRole::transform, "Crop");
  made.define<Kind::counting>(1, at(0), std::uint64_t{1}, std::string("cycles"), std::uint64_t{0},
                              std::uint64_t{0});
  MadeStacks stacks(made);
  stacks.sampling(1);
  const Frames decode{"crop|crop.py", "decode_mcu|libjpeg.so.62"}, move{"memmove|libc.so.6"};
  for (const std::uint64_t cycles : {100, 110, 90}) {
    stacks.sample(1, decode);
    stacks.count(1, cycles);
  }
  stacks.sample(1, move);
  stacks.count(1, 60, 2000, 1000);  // on for half of the time
  stacks.sample(1, move);
  stacks.count(1, 0, 2000, 0);  // another group's turn
  stacks.sample(1, move);       // its counters were just being read
  stacks.sample(0, move);       // outside of operations
  stacks.count(1, 999);
  stacks.flush(1);
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  FunctionCounter counter;
  counter.begin(trace);
  show(trace, counter);
  counter.end();
  const FunctionCounts counts = counter.take();
  const auto json = functions_json(counts, {});
  REQUIRE(json.size() == 2);
  CHECK(json[0]["function"] == "decode_mcu");
  CHECK(json[0]["samples"] == 3);
  CHECK(json[0]["cpu_s"] == Approx(0.015));
  const auto& cycles = json[0]["counters"]["cycles"];
  CHECK(cycles["value"] == 300.0);
  CHECK(cycles["per_second"] == Approx(20'000));
  CHECK(cycles["share_percent"] == Approx(100 * 300.0 / 420));
  // 30,200 - 300² / 4 = 7700; t of 2 degrees of freedom: 4.303.
  CHECK(cycles["interval"][0] == 0.0);
  CHECK(cycles["interval"][1] == Approx(300 + 4.303 * 87.75).epsilon(0.001));
  CHECK(json[1]["counters"]["cycles"]["value"] == 120.0);
  CHECK(json[1]["counters"]["cycles"]["interval"].is_null());
  CHECK(json[1]["cpu_s"] == Approx(0.005));
}
