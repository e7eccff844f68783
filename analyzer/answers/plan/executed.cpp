#include "answers/plan/executed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "answers/plan/views.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

using memory::RecordedStep;

constexpr std::uint64_t kFirstCompared = 3;  // before it, memory and caches are not settled
constexpr std::size_t kLeastSteps = 3;       // of each kind

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

template <class Get>
double median(const std::vector<const RecordedStep*>& steps, Get get) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const RecordedStep* step : steps) values.push_back(static_cast<double>(get(*step)));
  return median_of(std::move(values));
}

// By a hundredth or more.
bool peaks_differ(const std::vector<const RecordedStep*>& steps) {
  const auto [least, most] = std::minmax_element(
      steps.begin(), steps.end(),
      [](const RecordedStep* a, const RecordedStep* b) { return a->peak_bytes < b->peak_bytes; });
  return (*most)->peak_bytes - (*least)->peak_bytes > (*least)->peak_bytes / 100;
}

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

struct Steps {
  std::vector<const RecordedStep*> planned, between;
};

Executed made(const Steps& steps, const std::string& trace) {
  const auto seconds = [](const RecordedStep& step) { return step.seconds; };
  const auto peak = [](const RecordedStep& step) { return step.peak_bytes; };
  const auto least = [](const std::vector<const RecordedStep*>& of) {
    return (*std::min_element(
                of.begin(), of.end(),
                [](const RecordedStep* a, const RecordedStep* b) { return a->seconds < b->seconds; }))
        ->seconds;
  };
  const memory::Followed& plan = steps.planned.front()->followed;
  Executed executed;
  executed.trace = trace;
  executed.steps = steps.planned.size();
  executed.beside = steps.between.size();
  executed.base_s = least(steps.between);
  executed.plan_moving_s = plan.plan_moving_s;
  executed.moving_s = median(steps.planned, [](const RecordedStep& step) { return step.followed.moving_s; });
  executed.actual_s = least(steps.planned);
  executed.base_median_s = median(steps.between, seconds);
  executed.actual_median_s = median(steps.planned, seconds);
  executed.base_peak = whole(median(steps.between, peak));
  executed.plan_freed = plan.plan_freed;
  executed.actual_peak = whole(median(steps.planned, peak));
  executed.steps_differ = peaks_differ(steps.between);
  executed.plan_moves = plan.plan_moves;
  executed.moves = whole(median(steps.planned, [](const RecordedStep& step) { return step.followed.moves; }));
  executed.late = whole(median(steps.planned, [](const RecordedStep& step) { return step.followed.late; }));
  executed.moved_bytes =
      whole(median(steps.planned, [](const RecordedStep& step) { return step.followed.moved_bytes; }));
  return executed;
}

// Why a plan was not followed; empty: none was refused.
std::string refusal_in(const std::vector<RecordedStep>& steps) {
  for (const RecordedStep& step : steps) {
    if (step.process == nullptr) continue;
    for (const auto& tried : step.process->tried)
      if (tried.settings == "memory-plan" && !tried.refused.empty()) return escaped(tried.refused);
  }
  return "";
}

// What makes a row no test of the prediction.
std::string remark_of(const Executed& executed) {
  std::string text;
  if (executed.plan_moves == 0)
    text +=
        fmt::format("{}: the plan has no moves, so there is nothing to compare: plan for less fast memory. ",
                    escaped(executed.trace));
  else if (!executed.was_followed())
    text += fmt::format(
        "{}: {} of the plan's {} moves were made in a step, so nothing is said of its error: is it a plan of "
        "another "
        "program, of other sizes, or do steps differ? ",
        escaped(executed.trace), executed.moves, executed.plan_moves);
  else if (executed.moves < executed.plan_moves)
    text += fmt::format(
        "{}: {} of the plan's {} moves were made: autograd does not save the others here, or saves them "
        "inside of a "
        "function where they are not recognised; they stayed where they were. ",
        escaped(executed.trace), executed.moves, executed.plan_moves);
  if (executed.steps_differ)
    text += fmt::format(
        "{}: steps without the plan differ from each other in their peaks: a plan is of one step, and moves "
        "only what has its sizes. Times and peaks here are of steps that are not alike. ",
        escaped(executed.trace));
  const std::uint64_t freed = executed.base_peak - std::min(executed.base_peak, executed.actual_peak);
  if (executed.was_followed() && executed.plan_freed > 0 && 2 * freed < executed.plan_freed)
    text += fmt::format(
        "{}: the peak is {} less with the plan, not {} as predicted: what came back is held longer than the "
        "plan has it, as by a double backward pass (create_graph) or retain_graph, or something else holds "
        "what was moved. ",
        escaped(executed.trace), bytes_text(freed), bytes_text(executed.plan_freed));
  if (4 * executed.late > executed.moves)
    text += fmt::format(
        "{}: {} of {} moves took longer than the plan has them: this machine cannot copy as fast as the slow "
        "memory of "
        "the plan. Plan for a slower one (--read-bandwidth, --write-bandwidth). ",
        escaped(executed.trace), executed.late, executed.moves);
  return text;
}

}  // namespace

std::vector<Executed> executed_of(const std::vector<RecordedStep>& steps, const std::string& trace) {
  std::map<const Process*, Steps> by_process;
  for (const RecordedStep& step : steps) {
    if (!step.is_whole() || !step.trains() || step.step.number < kFirstCompared) continue;
    Steps& of = by_process[step.process];
    (step.followed.plan ? of.planned : of.between).push_back(&step);
  }
  std::vector<Executed> all;
  std::size_t most = 0;
  for (const auto& [process, of] : by_process) {
    most = std::max(most, of.planned.size());
    if (of.planned.size() >= kLeastSteps && of.between.size() >= kLeastSteps) all.push_back(made(of, trace));
  }
  const std::string refused = refusal_in(steps);
  if (all.empty() && !refused.empty())
    throw Unusable(fmt::format("{}: no step followed a plan: it was refused: {}", escaped(trace), refused));
  if (all.empty())
    throw Unusable(fmt::format(
        "{}: {}; run with LOTUS_TRY=memory-plan=FILE, for {} steps of training or more (docs/memory-plan.md)",
        escaped(trace),
        most == 0 ? "no step followed a plan" : fmt::format("only {} steps followed a plan", most),
        2 * kLeastSteps + kFirstCompared));
  return all;
}

const char* executed_note() {
  return "Slow memory is emulated: a copy that takes as long as the plan has it. Predicted: the steps that "
         "follow no "
         "plan, and the plan's moves. Times: the least of all steps, as AutoTM's.";
}

std::string executed_text(const std::vector<Executed>& all, const Terminal& terminal) {
  Table table({{.title = "trace", .right = false, .flexible = true, .narrowest = 12},
               {.title = "steps", .importance = 1},
               {.title = "without"},
               {.title = "predicted"},
               {.title = "took"},
               {.title = "error"},
               {.title = "peak without", .importance = 3},
               {.title = "predicted", .importance = 4},
               {.title = "was", .importance = 3},
               {.title = "moves", .importance = 2}});
  std::vector<double> errors;
  for (const Executed& one : all) {
    if (one.was_followed()) errors.push_back(std::abs(one.error_percent()));
    table.add({escaped(one.trace), fmt::format("{} + {}", one.steps, one.beside), time_text(one.base_s),
               time_text(one.predicted_s()), time_text(one.actual_s),
               one.was_followed() ? fmt::format("{:+.1f} %", one.error_percent()) : "–",
               bytes_text(one.base_peak), bytes_text(one.predicted_peak()), bytes_text(one.actual_peak),
               fmt::format("{} of {}", one.moves, one.plan_moves)});
  }
  std::string out = table.text(terminal) + "\n";
  if (!errors.empty())
    out += wrapped(fmt::format("Error: predicted over real time, less 1; median of its size {:.1f} %.",
                               median_of(errors)),
                   terminal.width) +
           "\n";
  for (const Executed& one : all)
    if (const std::string remark = remark_of(one); !remark.empty())
      out += wrapped(remark, terminal.width) + "\n";
  return out + terminal.styled(Style::dim, wrapped(executed_note(), terminal.width)) + "\n";
}

nlohmann::ordered_json executed_json(const std::vector<Executed>& all) {
  nlohmann::ordered_json json = {
      {"schema", 1}, {"note", executed_note()}, {"executed", nlohmann::ordered_json::array()}};
  for (const Executed& one : all)
    json["executed"].push_back(
        {{"trace", one.trace},
         {"steps", one.steps},
         {"steps_without", one.beside},
         {"base_runtime_s", one.base_s},
         {"predicted_runtime_s", one.predicted_s()},
         {"actual_runtime_s", one.actual_s},
         {"base_median_s", one.base_median_s},
         {"actual_median_s", one.actual_median_s},
         {"error_percent",
          one.was_followed() ? nlohmann::ordered_json(one.error_percent()) : nlohmann::ordered_json()},
         {"predicted_move_time_s", one.plan_moving_s},
         {"move_time_s", one.moving_s},
         {"base_peak_bytes", one.base_peak},
         {"predicted_peak_bytes", one.predicted_peak()},
         {"peak_bytes", one.actual_peak},
         {"num_planned_moves", one.plan_moves},
         {"num_move_nodes", one.moves},
         {"num_late_moves", one.late},
         {"bytes_moved", one.moved_bytes}});
  return json;
}

}  // namespace lotus::analyzer::memory_plan
