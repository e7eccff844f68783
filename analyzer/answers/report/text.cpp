#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "answers/report/report.hpp"
#include "answers/report/sections.hpp"
#include "answers/report/trial_views.hpp"
#include "answers/report/verdict.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"
#include "text/utf8.hpp"

namespace lotus::analyzer {
namespace {

Style colour_of(Bound bound) {
  switch (bound) {
    case Bound::input:
      return Style::red;
    case Bound::compute:
      return Style::green;
    default:
      return Style::yellow;
  }
}

// The sentence: its first part, up to the first colon in the verdict's colour; below it the others, a line
// each.
std::string verdict_text(const Verdict& verdict, const Terminal& terminal) {
  std::string text = wrapped(verdict.parts.front(), terminal.width);
  const std::size_t colon = text.find(':');
  text = colon == std::string::npos
             ? terminal.styled(Style::bold, text)
             : terminal.styled(colour_of(verdict.bound), text.substr(0, colon)) + text.substr(colon);
  for (std::size_t i = 1; i < verdict.parts.size(); ++i)
    text += "\n  " + wrapped("- " + verdict.parts[i], terminal.width - 2, 4);
  return text + "\n";
}

std::string context_text(const Findings& f, const Terminal& terminal) {
  std::string files = escaped(f.files.front());
  if (f.files.size() > 1) files += fmt::format(" and {} more", f.files.size() - 1);
  const std::string facts =
      fmt::format("{}: {} process{}, {} worker{} started, {}, {} events", files, f.processes,
                  f.processes == 1 ? "" : "es", f.workers.size(), f.workers.size() == 1 ? "" : "s",
                  human_time(f.duration), human_count(f.quality.events));
  std::set<std::uint64_t> ranks;
  for (const auto& loader : f.loaders)
    if (loader.training->rank) ranks.insert(loader.training->rank->rank);
  const std::string hint =
      ranks.size() > 1 ? fmt::format("; {} ranks: --by-rank sets them side by side", ranks.size()) : "";
  return terminal.styled(Style::dim, wrapped(facts + hint, terminal.width)) + "\n";
}

// What the times below are too long by; empty where that is little.
std::string tracing_text(const QualityFinding& quality, const Terminal& terminal) {
  const double percent = quality.overhead_percent().value_or(0);
  if (percent < kTellsOfTracingPercent) return {};
  const bool calls = static_cast<double>(quality.python_calls.ns) > quality.own_cost / 2;
  const std::string why = calls ? fmt::format("most of it by {} Python calls: without Lotus these are faster",
                                              human_count(quality.python_calls.count))
                                : std::string(
                                      "set LOTUS_SAMPLE_HZ=0 to leave out stack samples, LOTUS_TORCH_OPS=0 "
                                      "for PyTorch's operators");
  const std::string line =
      fmt::format("Tracing took {} of the time measured, {}", human_percent(percent), why);
  return terminal.styled(Style::yellow, wrapped(line, terminal.width)) + "\n";
}

std::string section(const Terminal& terminal, const std::string& title, const std::string& note,
                    const std::string& body) {
  if (body.empty()) return {};
  const std::string rest =
      note.empty() ? "" : wrapped(title + "  " + note, terminal.width, 2).substr(title.size());
  return "\n" + terminal.styled(Style::bold, title) + terminal.styled(Style::dim, rest) + "\n" + body;
}

}  // namespace

std::string report_text(const Findings& findings, const Terminal& terminal, bool all) {
  const Verdict verdict = verdict_of(findings);
  std::string out = trial_text(findings, terminal);
  std::string flow = findings.control_flow;
  if (!flow.empty()) flow = wrapped(flow + " lotus-analyze control-flow tells more.", terminal.width) + "\n";
  // Of a region alone its control flow is what there is to tell.
  const bool only_region = !flow.empty() && findings.loaders.empty();
  const std::string judged = verdict_text(verdict, terminal);
  out += only_region ? flow + judged : judged + flow;
  out += context_text(findings, terminal);
  out += tracing_text(findings.quality, terminal);
  out +=
      section(terminal, "Does not go on", "the program still runs; for at least: until it was looked at last",
              stuck_text(findings, terminal));
  out += section(terminal, "Cut short", "what ended processes were in: killed, crashed, out of memory?",
                 cut_short_text(findings, terminal));
  out += section(terminal, "What to change",
                 verdict.diagnosis.error ? "by a replay of the recorded batches; [ ]: 90 % of resampled ones"
                                         : "too few batches in a row for a replay",
                 advice_text(findings, verdict.diagnosis, terminal));
  out += section(terminal, "Operations", "share: own time, nested operations excluded, of all preprocessing",
                 ops_text(findings, terminal, all));
  out += section(terminal, "Inside operations", "lotus-analyze map lists all native functions",
                 native_text(findings, terminal));
  out += section(terminal, "Lost slots",
                 "in which the processor could have begun an instruction; 95 % intervals",
                 lost_slots_text(findings, terminal));
  out += section(terminal, "Waiting inside of fetches", "each for 10 ms or more, off the CPU",
                 waits_text(findings, terminal, all));
  out += section(terminal, "Batches",
                 "wait: of training for each, 1 µs where it had come before; delay: from made to used",
                 times_text(findings, terminal));
  out += section(terminal, "Waiting", "T2, of the whole run; the first sentence: all of next(), of the loop",
                 shares_text(findings, terminal));
  out += section(terminal, "Beside the operations", "", facts_text(findings, terminal));
  out += section(terminal, "Workers", "busy: share of a worker's life spent preprocessing",
                 workers_text(findings, terminal));
  out += section(terminal, "Slowest samples", "", slow_text(findings, terminal));
  out += section(terminal, "Loaders", "waited: share of its training loop", loaders_text(findings, terminal));
  out += section(terminal, "Trace quality", "", quality_text(findings, terminal));
  return out;
}

}  // namespace lotus::analyzer
