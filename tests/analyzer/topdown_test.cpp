// Shares of a processor's slots, against values that were worked out by hand from the makers' definitions.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "answers/counters/collector.hpp"
#include "answers/counters/ratios.hpp"
#include "answers/counters/views.hpp"
#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

namespace {

constexpr std::size_t kClass = 30;  // of durations

// One call, in which counters counted so much.
CountedCalls calls_with(const std::map<std::string, double>& counted) {
  CountedCalls calls;
  calls.calls = 1;
  calls.by_duration[kClass] = 1;
  for (const auto& [name, value] : counted) calls.counters[name].measured[kClass].add(value);
  return calls;
}

// In percent, by key.
std::map<std::string, double> shares_of(const ProcessorId& processor, const CountedCalls& calls) {
  const TopdownModel* topdown = topdown_of(processor);
  REQUIRE(topdown != nullptr);
  std::map<std::string, double> shares;
  for (const RatioRow& row : ratio_rows(topdown))
    if (const auto ratio = row.part ? ratio_of(row, calls) : std::nullopt) shares[row.key] = ratio->value;
  return shares;
}

void check(const std::map<std::string, double>& shares, const std::map<std::string, double>& expected) {
  CHECK(shares.size() == expected.size());
  for (const auto& share : expected) {
    CAPTURE(share.first);
    REQUIRE(shares.count(share.first) == 1);
    CHECK(shares.at(share.first) == Approx(share.second));
  }
}

}  // namespace

TEST_CASE("topdown: Intel since Sapphire Rapids") {
  const auto calls = calls_with({{"slots", 6'000'000},
                                 {"topdown-retiring", 2'400'000},
                                 {"topdown-bad-spec", 600'000},
                                 {"topdown-fe-bound", 900'000},
                                 {"topdown-be-bound", 2'100'000},
                                 {"topdown-heavy-ops", 300'000},
                                 {"topdown-br-mispredict", 540'000},
                                 {"topdown-fetch-lat", 600'000},
                                 {"topdown-mem-bound", 1'500'000}});
  check(shares_of({"GenuineIntel", 6, 0x8f}, calls), {{"retiring_percent", 40},
                                                      {"bad_speculation_percent", 10},
                                                      {"frontend_bound_percent", 15},
                                                      {"backend_bound_percent", 35},
                                                      {"heavy_operations_percent", 5},
                                                      {"light_operations_percent", 35},
                                                      {"mispredicts_percent", 9},
                                                      {"restarts_percent", 1},
                                                      {"fetch_latency_percent", 10},
                                                      {"fetch_bandwidth_percent", 5},
                                                      {"memory_bound_percent", 25},
                                                      {"core_bound_percent", 10}});
  check(shares_of({"GenuineIntel", 6, 0x6a}, calls), {{"retiring_percent", 40},  // Ice Lake: the first level
                                                      {"bad_speculation_percent", 10},
                                                      {"frontend_bound_percent", 15},
                                                      {"backend_bound_percent", 35}});
}

TEST_CASE("topdown: AMD Zen 4, 6 slots a cycle") {
  const auto calls = calls_with({{"cycles", 1'000'000},
                                 {"ex_ret_ops", 2'400'000},
                                 {"de_src_op_disp.all", 2'700'000},
                                 {"de_no_dispatch_per_slot.no_ops_from_frontend", 1'200'000},
                                 {"de_no_dispatch_per_slot.backend_stalls", 1'800'000},
                                 {"de_no_dispatch_per_slot.smt_contention", 300'000},
                                 {"no_ops_from_frontend.cmask_6", 120'000},
                                 {"ex_no_retire.load_not_complete", 300'000},
                                 {"ex_no_retire.not_complete", 400'000},
                                 {"branch-misses", 4000},
                                 {"resyncs_or_nc_redirects", 1000},
                                 {"ex_ret_ucode_ops", 120'000}});
  check(shares_of({"AuthenticAMD", 25, 0x11}, calls), {{"retiring_percent", 40},
                                                       {"bad_speculation_percent", 5},
                                                       {"frontend_bound_percent", 20},
                                                       {"backend_bound_percent", 30},
                                                       {"other_thread_percent", 5},
                                                       {"heavy_operations_percent", 2},
                                                       {"light_operations_percent", 38},
                                                       {"mispredicts_percent", 4},
                                                       {"restarts_percent", 1},
                                                       {"fetch_latency_percent", 12},
                                                       {"fetch_bandwidth_percent", 8},
                                                       {"memory_bound_percent", 22.5},
                                                       {"core_bound_percent", 7.5}});
}

TEST_CASE("topdown: AMD Zen 5 has 8 slots a cycle") {
  const auto calls = calls_with({{"cycles", 1'000'000}, {"ex_ret_ops", 2'400'000}});
  check(shares_of({"AuthenticAMD", 26, 2}, calls), {{"retiring_percent", 30}});
}

TEST_CASE("topdown: Arm Neoverse V1, whose mispredicted branches are counted to the front end") {
  const auto calls = calls_with({{"cycles", 1'000'000},
                                 {"stall_slot_frontend", 1'600'000},
                                 {"stall_slot_backend", 2'400'000},
                                 {"stall_slot", 4'000'000},
                                 {"op_retired", 3'600'000},
                                 {"op_spec", 4'000'000},
                                 {"br_mis_pred", 10'000}});
  check(shares_of({"0x41", 0, 0xd40}, calls), {{"retiring_percent", 45},
                                               {"bad_speculation_percent", 9},
                                               {"frontend_bound_percent", 16},
                                               {"backend_bound_percent", 30}});
}

TEST_CASE("topdown: Arm Neoverse N1 counts stalled cycles, not slots") {
  const auto calls =
      calls_with({{"cycles", 1'000'000}, {"stall_frontend", 150'000}, {"stall_backend", 450'000}});
  check(shares_of({"0x41", 0, 0xd0c}, calls),
        {{"frontend_bound_percent", 15}, {"backend_bound_percent", 45}});
  CHECK(topdown_of({"0x41", 0, 0xd0c})->unit == "cycles");
}

TEST_CASE("topdown: processors that the table does not know") {
  CHECK(topdown_of({"GenuineIntel", 6, 0x55}) == nullptr);   // Skylake
  CHECK(topdown_of({"GenuineIntel", 6, 0x97}) == nullptr);   // two kinds of cores
  CHECK(topdown_of({"AuthenticAMD", 25, 0x21}) == nullptr);  // Zen 3
  CHECK(topdown_of({"", 0, 0}) == nullptr);
}

TEST_CASE("topdown: formulas are of events that the writer counts, within what it can count") {
  for (const ProcessorRow& row : kProcessorRows) {
    const auto& events = row.topdown.events;
    CAPTURE(row.topdown.name);
    CHECK(events.size() + 4 <= kMaxCounters);  // and those of the set
    for (const TopdownShare& share : row.topdown.shares) {
      const Formula formula(share.formula);
      for (const std::string& operand : formula.operands()) {
        CAPTURE(operand);
        CHECK(std::any_of(events.begin(), events.end(),
                          [&](const CounterRow& event) { return event.name == operand; }));
      }
    }
  }
}

TEST_CASE("formulas: products before sums, from the left, parentheses") {
  const auto value = [](const char* text) { return Formula(text).value({}); };
  CHECK(value("2 + 3 * 4") == 14);
  CHECK(value("( 2 + 3 ) * 4") == 20);
  CHECK(value("20 - 4 - 3") == 13);
  CHECK(value("24 / 4 / 2") == 3);
  CHECK(value("1 - ( 8 - 2 ) / ( 3 * 4 )") == 0.5);
  CHECK(Formula("a-b / ( a-b + c.d )").operands() == std::vector<std::string>{"a-b", "c.d"});
  for (const char* wrong : {"", "1 +", "+ 1", "( 1", "1 )", "1 2", "a b", "a , b"})
    CHECK_THROWS_AS(Formula{wrong}, std::invalid_argument);
}

TEST_CASE("formulas: the ends of an interval come from the corners, each operand has one value at a time") {
  // Retired 40 to 50, of them heavy 5 to 10, of 90 to 110 slots.
  const Formula light("( retired - heavy ) / slots");
  const auto bounds = light.bounds({{40, 50}, {5, 10}, {90, 110}});
  REQUIRE(bounds);
  CHECK(bounds->low == Approx(30.0 / 110));
  CHECK(bounds->high == Approx(45.0 / 90));
  // The same as 1 / ( 1 + b / a ): a rises in it, though it stands above and below.
  const auto share = Formula("a / ( a + b )").bounds({{1, 3}, {2, 4}});
  CHECK(share->low == Approx(0.2));
  CHECK(share->high == Approx(0.6));
  CHECK_FALSE(Formula("a / b").bounds({{1, 2}, {0, 3}}));
}

TEST_CASE("topdown: what an operation loses more slots to than is usual, divided where that is known") {
  CounterFindings findings;
  const auto add = [&](const char* name, double wall, const std::map<std::string, double>& counted) {
    CountedCalls& calls = findings.ops[{OpRole::transform, name, name}] = calls_with(counted);
    calls.wall_ns = wall;
  };
  const auto lost_at = [](double front_end, double fetching, double back_end, double memory) {
    return std::map<std::string, double>{{"slots", 100},
                                         {"topdown-fe-bound", front_end},
                                         {"topdown-fetch-lat", fetching},
                                         {"topdown-be-bound", back_end},
                                         {"topdown-mem-bound", memory}};
  };
  add("Crop", 5e8, lost_at(16, 12, 40, 38));
  add("Flip", 9e8, lost_at(16, 6, 19, 19));  // of the front end both parts are small
  add("Cast", 5e8, lost_at(10, 9, 15, 5));
  add("Tiny", 1e6, lost_at(50, 50, 50, 50));
  findings.topdown = topdown_of({"GenuineIntel", 6, 0x8f});
  const auto lost = lost_slots(findings);
  REQUIRE(lost.size() == 2);
  CHECK(lost[0].op.name == "Flip");
  REQUIRE(lost[0].to.size() == 1);
  CHECK(lost[0].to[0].what == std::string("the front end"));
  REQUIRE(lost[1].to.size() == 2);
  CHECK(lost[1].to[0].key == "memory_bound_percent");
  CHECK(lost[1].to[0].percent == Approx(38));
  CHECK(lost[1].to[1].what == std::string("waiting for instructions"));
  // Half of the calls had more, half less: the interval reaches below the threshold, and nothing is told.
  CountedCalls& flip = findings.ops[{OpRole::transform, "Flip", "Flip"}];
  flip.calls = flip.by_duration[kClass] = 1000;
  for (const double front_end : {2.0, 30.0, 16.0}) {
    flip.counters["slots"].measured[kClass].add(100);
    flip.counters["topdown-fe-bound"].measured[kClass].add(front_end);
  }
  CHECK(lost_slots(findings).size() == 1);
  findings.topdown = nullptr;
  CHECK(lost_slots(findings).empty());
}

TEST_CASE("topdown: shares are told with the processor; those of two kinds of processors are not") {
  const auto findings_of = [](std::uint64_t first_model, std::uint64_t second_model) {
    MadeTrace made;
    made.op(1, 1, OpRole::transform, "Crop");
    made.loader(1, 1);
    made.iterator(1, 1);
    const std::uint32_t worker = made.worker(1, 0);
    made.define<Kind::processor>(1, at(0), std::string("GenuineIntel"), std::uint64_t{6}, first_model);
    made.define<Kind::processor>(worker, at(0), std::string("GenuineIntel"), std::uint64_t{6}, second_model);
    std::uint64_t number = 0;
    for (const char* name : {"slots", "topdown-be-bound"})
      made.define<Kind::counting>(1, at(0), ++number, std::string(name), std::uint64_t{0}, std::uint64_t{0});
    ThreadWriter thread(made, 1, 1);
    thread.record<Kind::op>(at(1), std::uint64_t{1});
    thread.record<Kind::count>(at(2), std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{0},
                               std::uint64_t{0});
    thread.record<Kind::count>(at(2), std::uint64_t{2}, std::uint64_t{350}, std::uint64_t{0},
                               std::uint64_t{0});
    thread.record<Kind::leave>(at(2));
    thread.flush();
    made.close();
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    CounterFindings findings;
    CounterCollector collector(trace, findings);
    show(trace, collector);
    return findings;
  };
  const CounterFindings same = findings_of(0x8f, 0x8f);
  const auto json = counters_json(same);
  CHECK(json["topdown"]["unit"] == "slots");
  CHECK(json["ops"][0]["ratios"]["backend_bound_percent"]["value"] == 35.0);
  CHECK(json["ops"][0]["ratios"]["backend_bound_percent"]["interval"][1] == 35.0);
  CHECK(counters_text(same, {}).find("% of slots lost to the back end") != std::string::npos);
  const auto mixed = counters_json(findings_of(0x8f, 0x55));
  CHECK(mixed["topdown"].is_null());
  CHECK(mixed["processors"].size() == 2);
  CHECK(mixed["ops"][0]["ratios"].count("backend_bound_percent") == 0);
}
