#include <fmt/format.h>

#include "answers/ranks/ranks.hpp"
#include "answers/report/cells.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"

namespace lotus::analyzer {
namespace {

std::string mean_or_dash(const Durations& durations) {
  return durations.count == 0 ? "-" : human_time(durations.mean());
}

std::string pids_of(const RankFinding& rank) {
  std::string text;
  for (const std::uint32_t pid : rank.training) text += (text.empty() ? "" : " ") + std::to_string(pid);
  return text;
}

std::string ranks_table(const RankFindings& findings, const Terminal& terminal) {
  Table table({{"rank"},
               {.title = "host", .right = false, .importance = 5},
               {.title = "pid", .importance = 6},
               {.title = "workers started", .importance = 4},
               {.title = "batches", .importance = 3},
               {fmt::format("{}/s", findings.unit)},
               {.title = "batch (T1)", .importance = 1},
               {.title = "wait (T2)", .importance = 2},
               {"step"},
               {"waited"},
               {.right = false, .importance = 2, .style = Style::cyan}});
  for (const auto& rank : findings.ranks) {
    const auto waited = rank.waited_percent();
    table.add({std::to_string(rank.rank), escaped(rank.host), pids_of(rank), human_count(rank.workers.size()),
               human_count(rank.batches), rank.images_per_s() ? human_rate(*rank.images_per_s()) : "-",
               mean_or_dash(rank.fetch), mean_or_dash(rank.wait), mean_or_dash(rank.step),
               waited ? human_percent(*waited) : "-", waited ? bar_of(*waited) : ""});
  }
  return table.text(terminal);
}

std::string ops_table(const RankFindings& findings, const Terminal& terminal) {
  Table table({{.title = "operation", .right = false, .flexible = true},
               {.title = "calls", .importance = 2},
               {.title = "median rank", .importance = 1},
               {"slowest rank"},
               {"which"}});
  for (const auto& op : ops_of_ranks(findings))
    table.add({escaped(op.name), human_count(op.calls), human_time(op.median), human_time(op.slowest),
               std::to_string(op.slowest_rank)});
  return table.text(terminal);
}

std::string heading(const Terminal& terminal, const char* title, const char* note) {
  return "\n" + terminal.styled(Style::bold, title) + terminal.styled(Style::dim, note) + "\n";
}

}  // namespace

std::string ranks_text(const RankFindings& findings, const Terminal& terminal) {
  const auto straggler = straggler_of(findings);
  std::string out = wrapped(straggler_message(findings, straggler), terminal.width) + "\n";
  if (findings.ranks.size() < findings.world)
    out += terminal.styled(Style::dim, fmt::format("{} of {} ranks are in {} trace{}.", findings.ranks.size(),
                                                   findings.world, findings.files.size(),
                                                   findings.files.size() == 1 ? "" : "s")) +
           "\n";
  out += heading(terminal, "Ranks", "  waited: of its loop; the others wait in their steps");
  out += ranks_table(findings, terminal);
  out += heading(terminal, "Operations", "  mean of a call");
  return out + ops_table(findings, terminal);
}

}  // namespace lotus::analyzer
