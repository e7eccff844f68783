#include "answers/controlflow/compiled.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::size_t kMostReasons = 4;

// What goes on behind a break is a function of its own, of this name: …_in_NAME_at_LINE.
constexpr std::string_view kResumed = "torch_dynamo_resume_in_";
// A graph is called through a function of this file.
constexpr std::string_view kGraphCaller = "/torch/_dynamo/eval_frame.py";

std::string_view last_name(std::string_view qualified) {
  const std::size_t dot = qualified.rfind('.');
  return dot == std::string_view::npos ? qualified : qualified.substr(dot + 1);
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// Behind which line of which function this one goes on; 0: it is none of these.
std::uint64_t resumed_at(std::string_view name) {
  if (!last_name(name).starts_with(kResumed)) return 0;
  const std::string_view digits = name.substr(name.rfind('_') + 1);
  std::uint64_t line = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  return result.ptr == digits.data() + digits.size() ? line : 0;
}

const PythonCode* code_of(const Region& region, const Activation& activation) {
  const auto found = region.process->python_codes.find(activation.code);
  return found == region.process->python_codes.end() ? nullptr : &found->second;
}

bool is_graph(const Region& region, const Event& event) {
  if (!event.is_call) return false;
  const PythonCode* const code = code_of(region, region.activations[event.index]);
  return code != nullptr && code->file.ends_with(kGraphCaller);
}

struct Window {
  std::uint64_t begin = 0, end = 0;  // ticks
  bool holds(std::uint64_t ticks) const { return begin <= ticks && ticks < end; }
};

// From the end of the last graph before the call of `resumed` to the begin of the first thing compiled in it:
// a graph, or what goes on behind the next break, which has its own.
std::optional<Window> window_of(const Region& region, std::size_t resumed) {
  const Activation& activation = region.activations[resumed];
  if (activation.caller == Activation::kNobody || activation.stretches.size() != 1) return std::nullopt;
  const Activation& caller = region.activations[activation.caller];
  Window window{caller.stretches.front().begin, activation.stretches.front().end};
  for (const Event& event : caller.events) {
    if (event.begin >= activation.stretches.front().begin) break;
    if (is_graph(region, event)) window.begin = event.end;
  }
  for (const Event& event : activation.events) {
    const PythonCode* const code = event.is_call ? code_of(region, region.activations[event.index]) : nullptr;
    if (!is_graph(region, event) && (code == nullptr || resumed_at(code->name) == 0)) continue;
    window.end = event.begin;
    break;
  }
  if (window.end < window.begin) return std::nullopt;
  return window;
}

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

void add_break(GraphBreakAnswer& broken, const Region& region, const Times& times, const Window& window,
               double share) {
  broken.known = true;
  ++broken.calls;
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
  const std::string reason = first_line(record.reason);
  for (GraphBreakAnswer& known : answer.breaks)
    if (known.source.file == record.file && known.source.line == record.line && known.reason == reason)
      return known;
  answer.breaks.emplace_back();
  answer.breaks.back().source = {record.file, record.function, record.line};
  answer.breaks.back().reason = reason;
  return answer.breaks.back();
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

std::optional<double> CompiledAnswer::guards_at_most_ns(double python_ns) const {
  double all = 0;
  for (const CompiledFunction& function : functions) {
    if (function.calls > 0 && !function.check_ns) return std::nullopt;
    all += function.calls * function.check_ns.value_or(0);
  }
  return std::min(all, python_ns);
}

CompiledAnswer compiled_of(const std::vector<const Region*>& recorded) {
  CompiledAnswer answer;
  const Process& process = *recorded.front()->process;
  for (const GraphBreak& record : process.graph_breaks) ++break_at(answer, record).times;
  for (const Compilation& record : process.compilations) add_compilation(answer, record);
  answer.compiling_calls = static_cast<std::uint64_t>(std::count_if(
      recorded.begin(), recorded.end(), [](const Region* region) { return has_compiled(*region); }));
  return answer;
}

void add_compiled(CompiledAnswer& answer, const Region& region, const Times& times, double share) {
  for (std::size_t i = 0; answer.any() && i < region.activations.size(); ++i) {
    const PythonCode* const code = code_of(region, region.activations[i]);
    if (code == nullptr) continue;
    for (CompiledFunction& function : answer.functions)
      if (function.source.line == code->line && function.source.file == code->file &&
          function.source.function == last_name(code->name))
        ++function.calls;
    const std::uint64_t line = resumed_at(code->name);
    if (line == 0) continue;
    const auto broken =
        std::find_if(answer.breaks.begin(), answer.breaks.end(), [&](const GraphBreakAnswer& known) {
          return known.source.line == line && known.source.file == code->file;
        });
    if (broken == answer.breaks.end()) continue;
    if (const auto window = window_of(region, i)) add_break(*broken, region, times, *window, share);
  }
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
