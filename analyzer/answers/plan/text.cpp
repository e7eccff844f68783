#include <fmt/format.h>

#include <algorithm>

#include "answers/plan/account.hpp"
#include "answers/plan/views.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

constexpr std::size_t kStoragesShown = 10;

std::string rate_text(double bytes) { return fmt::format("{:.3g} GB/s", bytes / 1e9); }

// "+8.2 %", beside all in fast memory.
std::string slower_text(double seconds, double base) {
  return base > 0 ? "+" + human_percent(100 * (seconds / base - 1)) : "-";
}

std::string solver_text(const Run& run) {
  if (!run.gap) return "-";
  return fmt::format("{}{}, gap {}", run.solver, run.status == "optimal" ? "" : " (not within the gap)",
                     human_percent(100 * *run.gap));
}

std::string head_text(const Answer& answer, const Terminal& terminal) {
  const Planned& planned = answer.planned;
  std::string out = fmt::format(
      "Step {}{}: {} operators, {} storages, {} at the peak.", planned.step.number,
      answer.alike > 1 ? fmt::format(" (times: median of {} steps alike, of {})", answer.alike, answer.of)
                       : "",
      human_count(planned.step.operators.size()), human_count(planned.step.storages.size()),
      bytes_text(planned.peak));
  out = wrapped(out, terminal.width) + "\n";
  out += wrapped(fmt::format(
                     "With everything in fast memory it takes {}; in slow memory, {}. The largest operator, "
                     "{}, needs {}.",
                     time_text(planned.all_fast_seconds), time_text(planned.all_slow_seconds),
                     planned.floor.op ? operator_name(planned.step, answer.input, *planned.floor.op) : "none",
                     bytes_text(planned.floor.bytes)),
                 terminal.width) +
         "\n";
  out += terminal.styled(Style::dim, wrapped(model_note(planned.rules), terminal.width)) + "\n";
  for (const std::string& note : answer.notes) out += wrapped(note, terminal.width) + "\n";
  return out;
}

std::string runs_text(const Answer& answer, const Terminal& terminal) {
  const Planned& planned = answer.planned;
  Table table({{.title = "fast memory"},
               {.title = "slow:fast", .importance = 4},
               {.title = "plan", .right = false},
               {.title = "time"},
               {.title = "slower"},
               {.title = "over all slow", .importance = 3},
               {.title = "moves"},
               {.title = "moved"},
               {.title = "in slow", .importance = 2},
               {.title = "solver", .right = false, .importance = 1}});
  for (const Run& run : planned.runs) {
    const Account account = account_of(planned, run);
    const double seconds = run.outcome.seconds;
    table.add({bytes_text(run.limit.bytes), run.limit.ratio.empty() ? "-" : escaped(run.limit.ratio),
               name_of(run.mode), time_text(seconds), slower_text(seconds, planned.all_fast_seconds),
               seconds > 0 ? fmt::format("{:.2f}x", planned.all_slow_seconds / seconds) : "-",
               human_count(account.to_slow + account.to_fast),
               bytes_text(account.bytes_to_slow + account.bytes_to_fast), bytes_text(account.slow_peak),
               solver_text(run)});
  }
  std::string out = table.text(terminal);
  for (const Run& run : planned.runs)
    if (run.mode == Mode::offload && account_of(planned, run).to_slow == 0)
      out +=
          wrapped(fmt::format("offload of {} moves nothing: the step needs {} at the peak. There is nothing "
                              "to carry out; give less fast memory.",
                              bytes_text(run.limit.bytes), bytes_text(planned.peak)),
                  terminal.width) +
          "\n";
  for (const Run& run : planned.runs)
    if (!run.note.empty())
      out += wrapped(fmt::format("{} of {}: {}", name_of(run.mode), bytes_text(run.limit.bytes), run.note),
                     terminal.width) +
             "\n";
  return out;
}

// "to slow before 31, back before 214".
std::string moves_text(const Decision& decision) {
  if (decision.moves.empty()) return "stays in slow memory";
  std::string text;
  for (const Move& move : decision.moves) {
    if (text.size() > 60) return text + " …";
    text += fmt::format("{}{} before {}", text.empty() ? "" : ", ",
                        move.to_fast  ? "to fast"
                        : move.copied ? "to slow"
                                      : "dropped",
                        move.before);
  }
  return text;
}

std::string made_by(const Answer& answer, std::size_t index) {
  const auto& storage = answer.planned.step.storages[index];
  const std::string line = source_name(answer.input, storage.place);
  if (storage.maker) return operator_name(answer.planned.step, answer.input, *storage.maker);
  return std::string(!storage.older        ? "(outside of operators)"
                     : persistent(storage) ? "(kept from step to step)"
                                           : "(from before the step)") +
         (line.empty() ? "" : " " + line);
}

// Of the plan for the least fast memory, the synchronous one if it is there.
const Run* shown_run(const Planned& planned) {
  const Run* shown = nullptr;
  for (const Run& run : planned.runs)
    if (run.gap && (shown == nullptr || run.limit.bytes == shown->limit.bytes)) shown = &run;
  return shown;
}

std::string decisions_text(const Answer& answer, const Terminal& terminal) {
  const Run* run = shown_run(answer.planned);
  if (run == nullptr) return "";
  const auto decisions = decisions_of(answer.planned, *run);
  if (decisions.empty()) return "";
  Table table({{.title = "bytes"},
               {.title = "made by", .right = false, .flexible = true, .narrowest = 24},
               {.title = "the plan", .right = false},
               {.title = "costs"}});
  for (std::size_t i = 0; i < std::min(decisions.size(), kStoragesShown); ++i)
    table.add({bytes_text(answer.planned.step.storages[decisions[i].storage].bytes),
               made_by(answer, decisions[i].storage), moves_text(decisions[i]),
               time_text(decisions[i].seconds)});
  return terminal.styled(
             Style::bold,
             fmt::format(
                 "The largest of {} storages that the {} plan moves or leaves in slow memory, with {}",
                 decisions.size(), name_of(run->mode), bytes_text(run->limit.bytes))) +
         "\n" + table.text(terminal);
}

}  // namespace

std::string model_note(const Rules& rules) {
  const std::string modelled =
      fmt::format("bytes over bandwidth ({} read, {} written, {} latency; fast memory {}), not measured",
                  rate_text(rules.tier.read), rate_text(rules.tier.write), time_text(rules.tier.latency),
                  rate_text(rules.tier.fast));
  const std::string operators =
      rules.kernels.factors.empty()
          ? fmt::format("Times in slow memory are modelled: {}.", modelled)
          : fmt::format(
                "Times in slow memory come from {} for the {} operators that it names; moves and all other "
                "operators are modelled: {}.",
                escaped(rules.kernels.file), rules.kernels.factors.size(), modelled);
  return "This is a model of memory that this machine may not have. " + operators;
}

std::string source_name(const Input& input, std::uint64_t place) {
  const auto found = input.places.find(place);
  return found == input.places.end() ? ""
                                     : fmt::format("{}:{}", escaped(found->second.file), found->second.line);
}

std::string operator_name(const memory::Step& step, const Input& input, std::size_t index) {
  const auto& op = step.operators[index];
  const std::string line = source_name(input, op.place);
  return escaped(op.name) + (line.empty() ? "" : fmt::format(" ({})", line));
}

double memory_cost(std::uint64_t limit, std::uint64_t peak, double cost_ratio) {
  if (peak == 0 || limit >= peak) return 1;
  const double fast = static_cast<double>(limit) / static_cast<double>(peak);
  return fast + (1 - fast) / cost_ratio;
}

std::string plans_text(const Answer& answer, const Terminal& terminal) {
  const std::string decisions = decisions_text(answer, terminal);
  return head_text(answer, terminal) + "\n" + runs_text(answer, terminal) +
         (decisions.empty() ? "" : "\n" + decisions);
}

}  // namespace lotus::analyzer::memory_plan
