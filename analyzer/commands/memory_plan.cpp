// `memory-plan`: what a training step would take with a smaller fast memory.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "answers/plan/executed.hpp"
#include "answers/plan/mps.hpp"
#include "answers/plan/recorded.hpp"
#include "answers/plan/views.hpp"
#include "commands/command.hpp"
#include "commands/recorded_steps.hpp"
#include "paper/figures/plan_figures.hpp"
#include "reading/input/chosen_traces.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace memory_plan {
namespace {

constexpr const char* kUsualRatios[] = {"8:1", "4:1", "1:1"};  // AutoTM's
constexpr std::size_t kSweep = 12;  // sizes for figures, from the floor to the peak

struct PlanOptions {
  std::vector<std::string> traces;
  std::string steps;
  std::optional<std::uint64_t> step;
  std::vector<std::string> fast, ratios;
  std::vector<std::string> modes;
  std::string solver = "auto", kernel_table, mps, figures;
  std::string read = "29GB/s", write = "12GB/s", fast_bandwidth = "100GB/s", latency = "300ns";
  double time_limit = 60, gap_percent = 1, cost_ratio = 2.1;
  bool persistent_fast = false, below_floor = false, executed = false, json = false, force = false;
};

struct Suffix {
  std::string_view name;
  double factor;
};

constexpr Suffix kBytes[] = {{"", 1},         {"B", 1},        {"kB", 1e3},     {"KB", 1e3},
                             {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"KiB", 0x1p10},
                             {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"K", 0x1p10},
                             {"M", 0x1p20},   {"G", 0x1p30},   {"T", 0x1p40}};
constexpr Suffix kRates[] = {{"", 1}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {"MB", 1e6}, {"GB", 1e9}};
constexpr Suffix kTimes[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}};

// A number with one of these suffixes; nullopt: it is none.
std::optional<double> amount(std::string_view text, std::span<const Suffix> suffixes) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const auto hit =
      std::find_if(suffixes.begin(), suffixes.end(), [&](const Suffix& each) { return each.name == suffix; });
  if (error != std::errc() || hit == suffixes.end() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value * hit->factor;
}

double bandwidth(const char* option, const std::string& text) {
  const auto value = amount(text, kRates);
  if (!value || !(*value > 0))
    throw WrongUsage(fmt::format("{} {}: give bytes/s, as 29e9 or 29GB/s", option, escaped(text)));
  return *value;
}

// Slow to fast: "8:1", of which fast memory is 1/9 of the peak (AutoTM's upper_bound / (r + 1)).
std::optional<Limit> limit_of_ratio(const std::string& text, std::uint64_t peak) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto slow = amount(text.substr(0, colon), std::span(kBytes).first(1));
  const auto fast = amount(text.substr(colon + 1), std::span(kBytes).first(1));
  if (!slow || !fast || !(*slow + *fast > 0))
    throw WrongUsage(fmt::format("{}: give the ratio of slow to fast memory, as 8:1", escaped(text)));
  return Limit{static_cast<std::uint64_t>(static_cast<double>(peak) * (*fast / (*slow + *fast))), text};
}

Limit limit_of(const std::string& text, std::uint64_t peak) {
  if (const auto ratio = limit_of_ratio(text, peak)) return *ratio;
  const auto bytes = amount(text, kBytes);
  if (!bytes || *bytes > 0x1p53)
    throw WrongUsage(
        fmt::format("--fast {}: give bytes, as 512MiB, or slow to fast memory, as 8:1", escaped(text)));
  return {static_cast<std::uint64_t>(*bytes), ""};
}

std::vector<Limit> asked_limits(const PlanOptions& options, std::uint64_t peak) {
  std::vector<Limit> limits;
  for (const std::string& text : options.fast) limits.push_back(limit_of(text, peak));
  for (const std::string& text : options.ratios) {
    const auto limit = limit_of_ratio(text, peak);
    if (!limit) throw WrongUsage(fmt::format("--ratio {}: give slow to fast memory, as 8:1", escaped(text)));
    limits.push_back(*limit);
  }
  return limits;
}

std::string limit_name(const Limit& limit) {
  const std::string bytes = human_bytes(static_cast<double>(limit.bytes));
  return limit.ratio.empty() ? bytes : fmt::format("{} ({})", escaped(limit.ratio), bytes);
}

// The least fast memory that is accepted, and what for.
struct Least {
  Floor floor;
  bool offload = false;  // for a plan of this mode
  bool below = false;    // operators may work in slow memory whatever moves
};

Least least_for(const Planned& planned, const std::vector<Mode>& modes, bool below_floor) {
  const Least any{below_floor ? least_of(planned) : planned.floor, false, below_floor};
  if (std::find(modes.begin(), modes.end(), Mode::offload) == modes.end()) return any;
  const Least offload{least_of_offload(planned), true, false};
  return offload.floor.bytes > any.floor.bytes ? offload : any;
}

std::string too_little(const Planned& planned, const Input& input, const Limit& limit, const Least& least) {
  const Floor& floor = least.floor;
  const std::string who =
      floor.op ? fmt::format("operator {}, {}", *floor.op, operator_name(planned.step, input, *floor.op))
               : "what is kept in fast memory";
  const char* const needs = least.offload ? "is where what the mode offload does not move takes" : "needs";
  const char* const remedy =
      least.offload || least.below
          ? ""
          : ", or --below-floor for plans in which operators work in slow memory whatever moves";
  return fmt::format("{} of fast memory is below the floor: {} {} {} bytes ({}) there; give at least that{}",
                     limit_name(limit), who, needs, floor.bytes, human_bytes(static_cast<double>(floor.bytes)),
                     remedy);
}

// Those of AutoTM that are not below the floor, else the floor; and for figures some more.
std::vector<Limit> usual_limits(const Planned& planned, const Input& input, const Least& least, bool figures,
                                std::vector<std::string>& notes) {
  std::vector<Limit> limits;
  for (const char* ratio : kUsualRatios) {
    const Limit limit = *limit_of_ratio(ratio, planned.peak);
    if (limit.bytes >= least.floor.bytes)
      limits.push_back(limit);
    else
      notes.push_back("Left out: " + too_little(planned, input, limit, least) + ".");
  }
  if (limits.empty()) {
    limits.push_back({least.floor.bytes, ""});
    notes = {fmt::format("None of the usual sizes of fast memory can be planned for, so it is planned for the least "
                         "possible one: {}.",
                         too_little(planned, input, *limit_of_ratio(kUsualRatios[2], planned.peak), least))};
  }
  if (figures && planned.peak > least.floor.bytes)
    for (std::size_t i = 0; i <= kSweep; ++i)
      limits.push_back({least.floor.bytes + (planned.peak - least.floor.bytes) * i / kSweep, ""});
  return limits;
}

std::vector<Limit> limits_for(const Planned& planned, const Input& input, const PlanOptions& options,
                              const std::vector<Mode>& modes, std::vector<std::string>& notes) {
  std::vector<Limit> limits = asked_limits(options, planned.peak);
  const Least least = least_for(planned, modes, options.below_floor);
  if (limits.empty()) return usual_limits(planned, input, least, !options.figures.empty(), notes);
  for (const Limit& limit : limits)
    if (limit.bytes < least.floor.bytes) throw Unusable(too_little(planned, input, limit, least));
  return limits;
}

std::vector<Mode> modes_of(const PlanOptions& options) {
  constexpr Mode kAll[] = {Mode::numa, Mode::greedy, Mode::fixed, Mode::synchronous, Mode::offload};
  if (options.modes.empty()) return {std::begin(kAll), std::end(kAll) - 1};
  std::vector<Mode> modes;
  for (const std::string& name : options.modes) {
    const auto hit =
        std::find_if(std::begin(kAll), std::end(kAll), [&](Mode mode) { return name == name_of(mode); });
    if (hit == std::end(kAll))
      throw WrongUsage(
          fmt::format("--mode {}: no such plan; there are numa, greedy, static, synchronous, offload", escaped(name)));
    modes.push_back(*hit);
  }
  return modes;
}

SolverChoice solver_of(const std::string& name) {
  if (name == "auto") return SolverChoice::automatic;
  if (name == "cbc") return SolverChoice::cbc;
  return name == "highs" ? SolverChoice::highs : SolverChoice::builtin;
}

Rules rules_of(const PlanOptions& options) {
  Rules rules;
  rules.tier.read = bandwidth("--read-bandwidth", options.read);
  rules.tier.write = bandwidth("--write-bandwidth", options.write);
  rules.tier.fast = bandwidth("--fast-bandwidth", options.fast_bandwidth);
  if (rules.tier.fast < std::max(rules.tier.read, rules.tier.write))
    throw WrongUsage("--fast-bandwidth: fast memory must not be slower than slow memory");
  const auto latency = amount(options.latency, kTimes);
  if (!latency)
    throw WrongUsage(fmt::format("--latency {}: give a time, as 300ns", escaped(options.latency)));
  rules.tier.latency = *latency;
  if (!options.kernel_table.empty()) rules.kernels = KernelTable::read(options.kernel_table);
  rules.persistent_fast = options.persistent_fast;
  return rules;
}

// What steps come from, for messages.
std::string input_name(const PlanOptions& options) {
  if (!options.steps.empty()) return options.steps;
  return options.traces.size() == 1 ? options.traces.front() : "the traces";
}

Input steps_of_input(const PlanOptions& options) {
  if (!options.steps.empty() && !options.traces.empty())
    throw WrongUsage("give either a TRACE or --steps, not both");
  if (!options.steps.empty()) return read_steps(options.steps);
  return input_of(recorded_steps_of(options.traces).steps, input_name(options));
}

void dump_mps(const Planned& planned, const Request& request, const PlanOptions& options) {
  const bool fixed = request.modes.size() == 1 && request.modes.front() == Mode::fixed;
  if (request.limits.size() != 1)
    throw WrongUsage("--dump-mps writes one model: give one --fast; --mode static for that formulation");
  const Limit& limit = request.limits.front();
  const std::string about =
      fmt::format("{}; {} formulation, {} bytes of fast memory in pages of 4 KiB, time in us",
                  model_note(planned.rules), fixed ? "static" : "synchronous", limit.bytes);
  Output out(options.mps, options.force);
  out.write(mps_text(fixed ? collapsed(planned.problem) : planned.problem,
                     static_cast<std::int64_t>(limit.bytes / kPage), about));
  out.close();
}

void answer(const PlanOptions& options) {
  const Rules rules = rules_of(options);
  const auto modes = modes_of(options);
  const Input input = steps_of_input(options);
  const TypicalStep typical = typical_step(input, options.step, input_name(options));
  Planned plans = planned(typical.step, rules);
  Answer result{.planned = plans,
                .input = input,
                .alike = typical.alike,
                .of = typical.of,
                .notes = {},
                .cost_ratio = options.cost_ratio};
  const Request request{.limits = limits_for(plans, input, options, modes, result.notes),
                        .modes = modes,
                        .solver = solver_of(options.solver),
                        .effort = {.gap = options.gap_percent / 100, .time_limit_s = options.time_limit}};
  Output out;
  if (!options.mps.empty()) dump_mps(plans, request, options);
  plan_for(plans, request);
  if (!options.figures.empty()) say("wrote " + draw_plan_figures(result, options.figures, options.force));
  out.write(options.json ? json_text(plans_json(result)) : plans_text(result, Terminal::of(out.file())));
  out.close();
}

// Traces of runs with LOTUS_TRY=memory-plan=FILE.
void tell_executed(const PlanOptions& options) {
  std::vector<Executed> all;
  for (const std::string& path : chosen_traces(options.traces))
    for (Executed& one : executed_of(recorded_steps_of({path}).steps, path)) all.push_back(std::move(one));
  Output out;
  if (!options.figures.empty()) say("wrote " + draw_executed_figure(all, options.figures, options.force));
  out.write(options.json ? json_text(executed_json(all)) : executed_text(all, Terminal::of(out.file())));
  out.close();
}

void add_memories(CLI::App& app, PlanOptions& options) {
  app.add_option(
         "--fast", options.fast,
         "fast memory: bytes, as 512MiB, or slow to fast memory, as 8:1; several with commas; default: 8:1, "
         "4:1 and 1:1")
      ->delimiter(',')
      ->type_name("BYTES|RATIO")
      ->allow_extra_args(false);
  app.add_option("--ratio", options.ratios, "slow to fast memory, as 8:1,4:1")
      ->delimiter(',')
      ->type_name("RATIO")
      ->allow_extra_args(false);
  app.add_option("--read-bandwidth", options.read, "of slow memory, in bytes/s or as 29GB/s; default: 29GB/s")
      ->type_name("BYTES/S");
  app.add_option("--write-bandwidth", options.write, "of slow memory; default: 12GB/s")->type_name("BYTES/S");
  app.add_option("--latency", options.latency,
                 "of slow memory, for each operand there and each move; default: 300ns")
      ->type_name("TIME");
  app.add_option("--fast-bandwidth", options.fast_bandwidth, "of fast memory; default: 100GB/s")
      ->type_name("BYTES/S");
  app.add_option(
         "--kernel-table", options.kernel_table,
         "CSV or JSON: by operator, how many times its time it takes in slow memory; instead of bytes over "
         "bandwidth")
      ->type_name("FILE");
}

void add_plans(CLI::App& app, PlanOptions& options) {
  app.add_option("--mode", options.modes, "of numa, greedy, static, synchronous, offload; default: all but offload")
      ->type_name("PLAN")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--persistent-fast", options.persistent_fast,
               "what is there before and after the step, as parameters, stays in fast memory");
  app.add_flag("--below-floor", options.below_floor,
               "also with less fast memory than the largest operator's operands take");
  app.add_option("--solver", options.solver,
                 "auto: built in, and where that is not within the gap soon, highs or cbc if it is there")
      ->check(CLI::IsMember({"auto", "cbc", "highs", "builtin"}))
      ->capture_default_str();
  app.add_option("--time-limit", options.time_limit, "seconds for each plan")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_option("--gap", options.gap_percent, "percent over the least possible time that are good enough")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
}

}  // namespace
}  // namespace memory_plan

Run prepare_memory_plan(CLI::App& app) {
  const auto options = std::make_shared<memory_plan::PlanOptions>();
  add_traces(app, options->traces);
  auto* steps = app.add_option("--steps", options->steps, "steps as JSON (docs/memory-plan.md) instead of a trace")
      ->type_name("FILE");
  app.add_flag("--executed", options->executed,
               "of runs with LOTUS_TRY=memory-plan=FILE: predicted against real times and peaks")
      ->excludes(steps);
  app.add_option("--step", options->step, "number of the step; default: one like most, with median durations")
      ->check(CLI::NonNegativeNumber);
  memory_plan::add_memories(app, *options);
  memory_plan::add_plans(app, *options);
  app.add_option("--cost-ratio", options->cost_ratio,
                 "a byte of fast memory costs as much as so many of slow memory")
      ->check(CLI::Range(0.01, 1e4))
      ->capture_default_str();
  app.add_option("--figures", options->figures, "draw AutoTM's figures 7, 9 and 10 into this directory; with --executed, 11")
      ->type_name("DIR");
  app.add_option("--dump-mps", options->mps,
                 "write the integer program as MPS, of one --fast; -: standard output")
      ->type_name("FILE");
  app.add_flag("--json", options->json, "the same facts, and the plans, as one JSON object");
  app.add_flag("--force", options->force, "replace files that exist");
  return [options] { options->executed ? memory_plan::tell_executed(*options) : memory_plan::answer(*options); };
}

}  // namespace lotus::analyzer
