#include "answers/controlflow/compiled.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "answers/controlflow/break_windows.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::size_t kMostReasons = 4;

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::uint64_t begin_of(const Region& region, const Gap& gap) {
  const Activation& activation = region.activations[gap.activation];
  std::uint64_t begin = gap.before == 0 || gap.before > activation.events.size()
                            ? activation.stretches.front().begin
                            : activation.events[gap.before - 1].end;
  // A generator's may be that of a later stretch.
  for (const Activation::Stretch& stretch : activation.stretches)
    if (stretch.first == gap.before) begin = std::max(begin, stretch.begin);
  return begin;
}

void add_break(GraphBreakAnswer& broken, const Region& region, const Times& times, const BreakWindow& window,
               double share) {
  broken.known = true;
  if (window.counts) ++broken.calls;
  for (const Gap& gap : times.gaps)
    if (gap.activation != Gap::kNobody && window.holds(begin_of(region, gap)))
      broken.python_ns += share * gap.parts.python;
  for (std::size_t i = 0; i < region.operators.size(); ++i)
    if (window.holds(region.operators[i].begin)) broken.operators_ns += share * times.operators[i].untraced();
}

void add_reason(std::vector<std::string>& reasons, const std::string& text) {
  if (!text.empty() && reasons.size() < kMostReasons &&
      std::find(reasons.begin(), reasons.end(), first_line(text)) == reasons.end())
    reasons.push_back(first_line(text));
}

GraphBreakAnswer& break_at(CompiledAnswer& answer, const GraphBreak& record) {
  for (GraphBreakAnswer& known : answer.breaks)
    if (known.source.file == record.file && known.source.line == record.line) return known;
  answer.breaks.emplace_back();
  answer.breaks.back().source = {record.file, original_function(record.function), record.line};
  return answer.breaks.back();
}

// What goes on behind a break tells its line alone, so a line's breaks are one.
void add_graph_break(CompiledAnswer& answer, const GraphBreak& record) {
  GraphBreakAnswer& broken = break_at(answer, record);
  ++broken.times;
  add_reason(broken.reasons, record.reason);
}

CompiledFunction& function_of(CompiledAnswer& answer, const Compilation& record) {
  for (CompiledFunction& known : answer.functions)
    if (known.source.file == record.file && known.source.line == record.line &&
        known.source.function == record.function)
      return known;
  answer.functions.emplace_back();
  answer.functions.back().source = {record.file, record.function, record.line};
  return answer.functions.back();
}

void add_compilation(CompiledAnswer& answer, const Compilation& record) {
  CompiledFunction& function = function_of(answer, record);
  const double took = static_cast<double>(record.took_ns.value_or(0));
  (record.region == 0 ? answer.outside_ns : answer.inside_ns) += took;
  if (record.took_ns) function.took_ns = function.took_ns.value_or(0) + took;
  add_reason(function.reasons, record.why);
  add_reason(function.reasons, record.failed);
  if (!record.failed.empty()) {
    ++function.failed;
    return;
  }
  ++function.compiled;
  if (!record.why.empty()) ++function.again;
  if (record.guards) function.guards = *record.guards;
  if (record.checking_ns) function.check_ns = static_cast<double>(*record.checking_ns);
}

}  // namespace

bool has_compiled(const Region& region) {
  const auto in_it = [&](const Compilation& one) { return one.region == region.number + 1; };
  const std::vector<Compilation>& all = region.process->compilations;
  return std::any_of(all.begin(), all.end(), in_it);
}

bool CompiledAnswer::runs() const {
  return std::any_of(functions.begin(), functions.end(),
                     [](const CompiledFunction& function) { return function.compiled > 0; });
}

std::optional<double> CompiledAnswer::guards_at_most_ns(double python_ns) const {
  double all = 0;
  for (const CompiledFunction& function : functions) {
    if (function.compiled == 0) continue;  // what runs as it is has none
    if (function.calls > 0 && !function.check_ns) return std::nullopt;
    all += function.calls * function.check_ns.value_or(0);
  }
  return std::min(all, python_ns);
}

CompiledAnswer compiled_of(const std::vector<const Region*>& recorded) {
  CompiledAnswer answer;
  const Process& process = *recorded.front()->process;
  for (const GraphBreak& record : process.graph_breaks) add_graph_break(answer, record);
  for (const Compilation& record : process.compilations) add_compilation(answer, record);
  answer.compiling_calls = static_cast<std::uint64_t>(std::count_if(
      recorded.begin(), recorded.end(), [](const Region* region) { return has_compiled(*region); }));
  return answer;
}

void add_compiled(CompiledAnswer& answer, const Region& region, const Times& times, double share) {
  if (!answer.any()) return;
  for (const Activation& activation : region.activations) {
    const auto code = region.process->python_codes.find(activation.code);
    if (code == region.process->python_codes.end()) continue;
    for (CompiledFunction& function : answer.functions)
      if (function.source.line == code->second.line && function.source.file == code->second.file &&
          function.source.function == last_name(code->second.name))
        ++function.calls;
  }
  std::vector<memory::SourceLine> lines;
  for (const GraphBreakAnswer& broken : answer.breaks) lines.push_back(broken.source);
  for (const BreakWindow& window : break_windows(lines, region))
    add_break(answer.breaks[window.broken], region, times, window, share);
}

void settle(CompiledAnswer& answer, std::uint64_t used) {
  for (GraphBreakAnswer& broken : answer.breaks) broken.calls /= static_cast<double>(used);
  for (CompiledFunction& function : answer.functions) function.calls /= static_cast<double>(used);
  std::stable_sort(answer.breaks.begin(), answer.breaks.end(),
                   [](const GraphBreakAnswer& a, const GraphBreakAnswer& b) {
                     return a.python_ns + a.operators_ns > b.python_ns + b.operators_ns;
                   });
  std::stable_sort(answer.functions.begin(), answer.functions.end(),
                   [](const CompiledFunction& a, const CompiledFunction& b) {
                     return a.took_ns.value_or(0) > b.took_ns.value_or(0);
                   });
}

}  // namespace lotus::analyzer::controlflow
