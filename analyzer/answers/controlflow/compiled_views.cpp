#include "answers/controlflow/compiled_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::controlflow {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNsOfSecond = 1e9;
// Of a call's time: the first break is a finding from here on, others, if they cost as much as this.
constexpr double kWorthTelling = 0.02, kAlsoWorthTelling = 0.05;
constexpr std::size_t kMostBreaks = 3;

std::string where(const memory::SourceLine& source) { return escaped(memory::source_text(source)); }

std::string count_text(double count) {
  return count == static_cast<double>(static_cast<std::uint64_t>(count))
             ? human_count(static_cast<std::uint64_t>(count))
             : fmt::format("{:.1f}", count);
}

std::string reasons_text(const GraphBreakAnswer& broken) {
  std::string text;
  for (const std::string& reason : broken.reasons) text += (text.empty() ? "" : "; ") + escaped(reason);
  return text;
}

double cost_of(const GraphBreakAnswer& broken) { return broken.python_ns + broken.operators_ns; }

// Breaks are in the order of what they cost. Empty: they cost little.
std::string breaks_text(const std::vector<GraphBreakAnswer>& breaks, double of_call) {
  std::string text;
  std::size_t told = 0;
  for (; told < breaks.size() && told < kMostBreaks; ++told) {
    const GraphBreakAnswer& broken = breaks[told];
    if (!broken.known || cost_of(broken) < (told == 0 ? kWorthTelling : kAlsoWorthTelling) * of_call) break;
    const std::string reason = fmt::format("{} ({})", where(broken.source), reasons_text(broken));
    text += told == 0 ? fmt::format("The graph breaks at {}: from the graph before it to the one behind it ",
                                    reason)
                      : fmt::format(" At {} it breaks, too: ", reason);
    text += fmt::format("{} of Python and {} of operators a call, {} of the call's time.",
                        human_time(broken.python_ns), human_time(broken.operators_ns),
                        human_percent(100 * cost_of(broken) / of_call));
  }
  if (told == 1) text += " Take it out of what is compiled, and the two graphs are one.";
  if (told > 1) text += " Take them out of what is compiled: each that is gone makes two graphs one.";
  return text;
}

// What guards compare with a number that has a fraction, as `___stack0 == 0.25`.
bool compares_fraction(std::string_view why) {
  constexpr std::string_view kEquals = " == ", kDigits = "0123456789";
  for (std::size_t at = why.find(kEquals); at != std::string_view::npos; at = why.find(kEquals, at + 1)) {
    std::size_t begin = at + kEquals.size();
    if (begin < why.size() && why[begin] == '-') ++begin;
    const std::size_t end = why.find_first_not_of(kDigits, begin);
    if (end != std::string_view::npos && end > begin && (why[end] == '.' || why[end] == 'e')) return true;
  }
  return false;
}

// Behind a reason torch.compile quotes the line of the program.
bool reads_tensor(std::string_view why) {
  constexpr std::string_view kReads[] = {".item()", ".tolist()", "float("};
  return std::any_of(std::begin(kReads), std::end(kReads),
                     [&](std::string_view call) { return why.find(call) != std::string_view::npos; });
}

std::string number_text(const std::vector<std::string>& reasons) {
  const auto by_number = std::find_if(reasons.begin(), reasons.end(), compares_fraction);
  if (by_number == reasons.end()) return "";
  return fmt::format(
      " A number{} had become a constant of the compiled code: guards compare it, and it was another one. "
      "Where it stays a tensor (torch.where), one code serves all.",
      reads_tensor(*by_number) ? " that was read from a tensor (.item(), float())" : "");
}

std::string again_text(const CompiledFunction& function) {
  const bool by_size =
      std::any_of(function.reasons.begin(), function.reasons.end(),
                  [](const std::string& why) { return why.find("size mismatch") != std::string::npos; });
  std::string text =
      fmt::format("{} at {} was compiled {} more {}", escaped(function.source.function),
                  where(function.source), function.again, function.again == 1 ? "time" : "times");
  if (!function.reasons.empty()) text += fmt::format(" ({})", escaped(function.reasons.front()));
  if (function.took_ns) text += fmt::format("; compiling it took {} in all", human_time(*function.took_ns));
  text += ".";
  if (by_size)
    text += " Where sizes differ from call to call, torch.compile(dynamic=True) makes one code for all.";
  return text + number_text(function.reasons);
}

std::string failed_text(const CompiledFunction& function) {
  std::string text = fmt::format("{} at {} could not be compiled", escaped(function.source.function),
                                 where(function.source));
  if (!function.reasons.empty()) text += fmt::format(" ({})", escaped(function.reasons.back()));
  return text + ", and runs as it is.";
}

std::string guards_text(const CompiledAnswer& answer, double python_ns) {
  const auto guards = answer.guards_at_most_ns(python_ns);
  const bool any =
      std::any_of(answer.functions.begin(), answer.functions.end(),
                  [](const CompiledFunction& function) { return function.check_ns.has_value(); });
  if (!guards && any) return " What guards take is not known: PyTorch measured it of some functions only.";
  if (!guards) return " What guards take is not known: this PyTorch does not measure it, newer ones do.";
  if (*guards >= python_ns)
    return " What guards take of a call's Python is not known: PyTorch measured them once with empty caches "
           "(\"check, cold\"), an upper bound, which here is no less than all Python of a call.";
  return fmt::format(
      " Guards take at most {} of a call's Python, by what PyTorch measured once with empty caches.",
      human_time(*guards));
}

template <class Number>
Json or_null(const std::optional<Number>& value, double unit = 1) {
  return value ? Json(static_cast<double>(*value) / unit) : Json(nullptr);
}

Json break_json(const GraphBreakAnswer& broken) {
  const auto told = [&](double ns) { return broken.known ? Json(ns / kNsOfSecond) : Json(nullptr); };
  return {{"file", broken.source.file},
          {"line", broken.source.line},
          {"function", broken.source.function},
          {"reasons", broken.reasons},
          {"times", broken.times},
          {"calls", broken.known ? Json(broken.calls) : Json(nullptr)},
          {"python_s", told(broken.python_ns)},
          {"operators_s", told(broken.operators_ns)}};
}

Json function_json(const CompiledFunction& function) {
  return {{"file", function.source.file},
          {"line", function.source.line},
          {"function", function.source.function},
          {"compiled", function.compiled},
          {"again", function.again},
          {"failed", function.failed},
          {"reasons", function.reasons},
          {"compile_s", or_null(function.took_ns, kNsOfSecond)},
          {"guards", function.guards ? Json(*function.guards) : Json(nullptr)},
          {"check_cold_s", or_null(function.check_ns, kNsOfSecond)},
          {"calls", function.calls}};
}

}  // namespace

std::vector<std::string> compiled_findings(const CompiledAnswer& answer, const Parts& of_call) {
  std::vector<std::string> findings;
  if (std::string text = breaks_text(answer.breaks, of_call.untraced()); !text.empty())
    findings.push_back(std::move(text));
  const auto often = std::max_element(
      answer.functions.begin(), answer.functions.end(),
      [](const CompiledFunction& a, const CompiledFunction& b) { return a.again < b.again; });
  if (often != answer.functions.end() && often->again > 0) findings.push_back(again_text(*often));
  for (const CompiledFunction& function : answer.functions)
    if (function.failed > 0 && function.compiled == 0 && function.calls > 0)
      findings.push_back(failed_text(function));
  return findings;
}

std::string compiled_summary(const CompiledAnswer& answer, const Parts& of_call) {
  std::string text =
      fmt::format("torch.compile compiled {} {} in {} of calls and {} outside of them.",
                  answer.functions.size(), answer.functions.size() == 1 ? "function" : "functions",
                  human_time(answer.inside_ns), human_time(answer.outside_ns));
  if (answer.compiling_calls > 0)
    text += fmt::format(" It did so in {} recorded {}; such calls count only where there are no others.",
                        answer.compiling_calls, answer.compiling_calls == 1 ? "call" : "calls");
  if (answer.runs()) text += guards_text(answer, of_call.python);
  return text + " What graphs call is seen, as operators and Python; what Inductor fused counts as Python.";
}

Table graph_break_table(const CompiledAnswer& answer, std::size_t rows) {
  Table table({{.title = "graph breaks", .right = false},
               {.title = "reason", .right = false, .flexible = true, .narrowest = 16},
               {.title = "met", .importance = 2},
               {.title = "a call"},
               {.title = "Python"},
               {.title = "operators", .importance = 1}});
  for (std::size_t i = 0; i < answer.breaks.size() && i < rows; ++i) {
    const GraphBreakAnswer& broken = answer.breaks[i];
    const auto told = [&](double ns) { return broken.known ? human_time(ns) : std::string("not known"); };
    table.add({where(broken.source), reasons_text(broken), human_count(broken.times),
               broken.known ? count_text(broken.calls) : "not known", told(broken.python_ns),
               told(broken.operators_ns)});
  }
  return table;
}

Table compiled_function_table(const CompiledAnswer& answer, std::size_t rows) {
  Table table({{.title = "compiled", .right = false},
               {.title = "function", .right = false, .flexible = true, .narrowest = 12},
               {.title = "times"},
               {.title = "again"},
               {.title = "failed", .importance = 3},
               {.title = "took"},
               {.title = "guards", .importance = 1},
               {.title = "check, cold", .importance = 2}});
  for (std::size_t i = 0; i < answer.functions.size() && i < rows; ++i) {
    const CompiledFunction& function = answer.functions[i];
    table.add({where(function.source), escaped(function.source.function), human_count(function.compiled),
               human_count(function.again), human_count(function.failed),
               function.took_ns ? human_time(*function.took_ns) : "not known",
               function.guards ? human_count(*function.guards) : "not known",
               function.check_ns ? human_time(*function.check_ns) : "not known"});
  }
  return table;
}

Json compilation_json(const CompiledAnswer& answer, const Parts& of_call) {
  if (!answer.any()) return nullptr;
  Json json = {{"graph_breaks", Json::array()},
               {"functions", Json::array()},
               {"compiling_calls", answer.compiling_calls},
               {"compile_s", answer.inside_ns / kNsOfSecond},
               {"compile_outside_s", answer.outside_ns / kNsOfSecond},
               {"guards_at_most_s", or_null(answer.guards_at_most_ns(of_call.python), kNsOfSecond)}};
  for (const GraphBreakAnswer& broken : answer.breaks) json["graph_breaks"].push_back(break_json(broken));
  for (const CompiledFunction& function : answer.functions)
    json["functions"].push_back(function_json(function));
  return json;
}

}  // namespace lotus::analyzer::controlflow
