// `memory-plan`: what a training step would take with a smaller fast memory.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "answers/plan/executed.hpp"
#include "answers/plan/mps.hpp"
#include "answers/plan/recorded.hpp"
#include "answers/plan/views.hpp"
#include "commands/command.hpp"
#include "commands/plan_limits.hpp"
#include "commands/recorded_steps.hpp"
#include "paper/figures/plan_figures.hpp"
#include "reading/input/chosen_traces.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace memory_plan {
namespace {

std::vector<Mode> modes_of(const PlanOptions& options) {
  constexpr Mode kAll[] = {Mode::numa, Mode::greedy, Mode::fixed, Mode::synchronous, Mode::offload};
  if (options.modes.empty()) return {std::begin(kAll), std::end(kAll) - 1};
  std::vector<Mode> modes;
  for (const std::string& name : options.modes) {
    const auto hit =
        std::find_if(std::begin(kAll), std::end(kAll), [&](Mode mode) { return name == name_of(mode); });
    if (hit == std::end(kAll))
      throw WrongUsage(fmt::format(
          "--mode {}: no such plan; there are numa, greedy, static, synchronous, offload", escaped(name)));
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
  rules.tier.latency = latency(options.latency);
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
  return input_of(needed_steps_of(options.traces).steps, input_name(options));
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
  app.add_option("--mode", options.modes,
                 "of numa, greedy, static, synchronous, offload; default: all but offload")
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
  auto* steps =
      app.add_option("--steps", options->steps, "steps as JSON (docs/memory-plan.md) instead of a trace")
          ->type_name("FILE");
  app.add_flag("--executed", options->executed,
               "of runs with LOTUS_TRY=memory-plan=FILE: predicted against real times and peaks")
      ->excludes(steps);
  app.add_option("--step", options->step, "number of the step; default: one like most, with median durations")
      ->type_name("NUMBER");
  memory_plan::add_memories(app, *options);
  memory_plan::add_plans(app, *options);
  app.add_option("--cost-ratio", options->cost_ratio,
                 "a byte of fast memory costs as much as so many of slow memory")
      ->check(CLI::Range(0.01, 1e4))
      ->capture_default_str();
  app.add_option("--figures", options->figures,
                 "draw AutoTM's figures 7, 9 and 10 into this directory; with --executed, 11")
      ->type_name("DIR");
  app.add_option("--dump-mps", options->mps,
                 "write the integer program as MPS, of one --fast; -: standard output")
      ->type_name("FILE");
  app.add_flag("--json", options->json, "the same facts, and the plans, as one JSON object");
  app.add_flag("--force", options->force, "replace files that exist");
  return
      [options] { options->executed ? memory_plan::tell_executed(*options) : memory_plan::answer(*options); };
}

}  // namespace lotus::analyzer
