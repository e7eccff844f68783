#include <fmt/format.h>

#include "answers/report/cells.hpp"
#include "answers/report/sections.hpp"
#include "answers/report/shares.hpp"
#include "text/table.hpp"

namespace lotus::analyzer {

std::string times_text(const Findings& f, const Terminal& terminal) {
  Table table({{.right = false, .flexible = true, .narrowest = 18},
               {"count"},
               {"mean"},
               {.title = "std", .importance = 5},
               {.title = "min", .importance = 8},
               {.title = "p25", .importance = 7},
               {"median"},
               {.title = "p75", .importance = 7},
               {.title = "p90", .importance = 1},
               {.title = "p99", .importance = 3},
               {.title = "max", .importance = 4},
               {.title = "total", .importance = 2}});
  const std::pair<const char*, const Series*> rows[] = {{"preprocessing (T1)", &f.fetch},
                                                        {"wait (T2)", &f.wait},
                                                        {"delay", &f.delay},
                                                        {"training step", &f.train_step},
                                                        {"sample", &f.sample},
                                                        {"serialize", &f.serialize},
                                                        {"send", &f.send},
                                                        {"deserialize", &f.deserialize},
                                                        {"pin memory", &f.pin}};
  for (const auto& [name, series] : rows) {
    if (series->empty()) continue;
    const Summary s = series->summary();
    table.add({name, human_count(s.count), human_time(s.mean), human_time(s.std), human_time(s.min),
               human_time(s.p25), human_time(s.p50), human_time(s.p75), human_time(s.p90), human_time(s.p99),
               human_time(s.max), human_time(series->sum())});
  }
  return table.empty() ? std::string() : table.text(terminal);
}

std::string shares_text(const Findings& f, const Terminal& terminal) {
  if (f.wait.empty()) return {};
  Table table({{}, {.right = false, .style = Style::cyan}, {.right = false, .flexible = true}});
  for (const Share& share : shares())
    if (const auto percent = share.percent(f); percent && *percent >= share.told_from)
      table.add({human_percent(*percent), bar_of(percent), share.words});
  std::string out = table.text(terminal);
  if (f.queue_samples == 0) return out;
  const std::string queue = fmt::format("{:.1f} batches were asked for ahead on average, {} at most",
                                        f.queue_sum / static_cast<double>(f.queue_samples), f.queue_most);
  return out + "  " + wrapped(queue, terminal.width - 2) + "\n";
}

}  // namespace lotus::analyzer
