#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "answers/report/cells.hpp"
#include "answers/report/loader_rows.hpp"
#include "answers/report/sections.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"

namespace lotus::analyzer {
namespace {

// More worker processes than this are merged into a row for each worker of each loader: a loader without
// persistent workers starts new ones each epoch.
constexpr std::size_t kMostProcesses = 16;

// Rows of a table; of the others, only the number is printed.
constexpr std::size_t kMostRows = 32;

std::string rest_text(std::size_t rows) {
  return rows <= kMostRows ? ""
                           : fmt::format("  and {} more, in report --json\n", human_count(rows - kMostRows));
}

struct WorkerRow {
  std::uint64_t processes = 0, batches = 0, pid = 0;
  double fetch = 0, life = 0;
};
using WorkerRows = std::map<std::tuple<std::size_t, std::int64_t, std::size_t>, WorkerRow>;

// By row of its loader (past the last: of none), worker id and process (0: merged).
WorkerRows rows_of(const Findings& f, const LoaderRows& loaders, bool merged) {
  WorkerRows rows;
  for (std::size_t i = 0; i < f.workers.size(); ++i) {
    const WorkerFinding& worker = f.workers[i];
    const std::size_t loader = worker.loader ? loaders.row_of[*worker.loader] : loaders.rows.size();
    WorkerRow& row = rows[{loader, worker.id, merged ? 0 : i}];
    ++row.processes;
    row.batches += worker.batches;
    row.pid = worker.process->pid;
    row.fetch += worker.fetch;
    row.life += worker.life;
  }
  return rows;
}

std::string loader_name(const LoaderRows& loaders, std::size_t row) {
  const bool known = row < loaders.rows.size() && loaders.rows[row].first->loader;
  return known ? std::to_string(loaders.rows[row].first->loader->id) : "-";
}

// `train_loader, train.py:88`
std::string place_of(const Loader& loader) {
  const std::string place = loader.place();
  if (place.empty()) return "-";
  return escaped(loader.variable.empty() ? place : loader.variable + ", " + place);
}

// The process of a row of loaders, or how many there are.
std::string trainings_of(const LoaderRow& row) {
  if (row.trainings.size() == 1) return std::to_string(row.first->training->pid);
  return fmt::format("{} processes", human_count(row.trainings.size()));
}

void add_loader(Table& table, const LoaderRows& loaders, std::size_t at) {
  static const Loader kUnknownLoader = [] {
    Loader unknown;
    unknown.dataset = "(its definition is lost)";
    return unknown;
  }();
  const LoaderRow& row = loaders.rows[at];
  const Loader& l = row.first->loader ? *row.first->loader : kUnknownLoader;
  const auto waited = row.waited_percent();
  const auto of_torch = [&](std::string setting) { return l.is_other() ? "-" : std::move(setting); };
  std::vector<std::string> cells{loader_name(loaders, at),
                                 place_of(l),
                                 trainings_of(row),
                                 escaped(l.name()),
                                 l.batch_size == 0 ? "-" : human_count(l.batch_size),
                                 of_torch(human_count(l.workers)),
                                 of_torch(human_count(l.prefetch)),
                                 of_torch(l.pin_memory ? "yes" : "no"),
                                 of_torch(l.persistent ? "yes" : "no"),
                                 human_count(row.epochs),
                                 row.epoch_batches.value_or(0) == 0 ? "-" : human_count(*row.epoch_batches),
                                 human_count(row.batches),
                                 row.steps == 0 ? "-" : human_time(row.step / static_cast<double>(row.steps)),
                                 percent_or_dash(waited),
                                 bar_of(waited)};
  if (loaders.folded) cells.insert(cells.begin() + 1, human_count(row.loaders));
  table.add(std::move(cells));
}

// Above this number, only a count is printed.
constexpr std::size_t kMostUnfinished = 8;

template <class Work>
std::string unfinished_text(const std::vector<Work>& all, const char* duration, double Work::*lasted,
                            const Terminal& terminal) {
  if (all.empty()) return {};
  Table table({{.right = false},
               {"pid"},
               {.title = "in", .right = false},
               {.title = duration, .importance = 2},
               {.title = "batch", .importance = 1},
               {"sample"},
               {.title = "file", .right = false, .flexible = true, .narrowest = 32}});
  for (std::size_t i = 0; i < std::min(kMostUnfinished, all.size()); ++i) {
    const Work& work = all[i];
    const auto& worker = work.process->worker_of;
    table.add({worker ? fmt::format("worker {}", worker->worker) : "training",
               std::to_string(work.process->pid), escaped(work.name), human_time(work.*lasted),
               work.batch ? std::to_string(*work.batch) : "-", work.index ? std::to_string(*work.index) : "-",
               work.path.empty() ? "-" : escaped(work.path)});
  }
  std::string text = table.text(terminal);
  if (all.size() > kMostUnfinished)
    text += fmt::format("  and {} more, in report --json\n", all.size() - kMostUnfinished);
  return text;
}

// Where it stands, outwards: what its stack would show, without the library's own loop around it.
std::string frames_text(const Stuck& stuck, const Terminal& terminal) {
  constexpr std::size_t kMostFrames = 4;
  std::string line;
  for (std::size_t i = 0; i < std::min(kMostFrames, stuck.frames.size()); ++i)
    line += (i == 0 ? "" : " < ") + place_of(stuck.frames[i]);
  if (stuck.frames.size() > kMostFrames)
    line += fmt::format(" < {} more, in report --json", stuck.frames.size() - kMostFrames);
  if (line.empty() && stuck.unreadable != 0)
    line = fmt::format("not known, the collector may not read the process ({}): see docs/limits.md",
                       std::strerror(static_cast<int>(stuck.unreadable)));
  if (line.empty()) return {};
  return "  " + wrapped(fmt::format("pid {} stands in {}", stuck.process->pid, line), terminal.width - 2, 4) +
         "\n";
}

}  // namespace

std::string place_of(const StandingFrame& frame) {
  const std::string file = frame.file.substr(frame.file.rfind('/') + 1);
  return escaped(frame.line == 0 ? fmt::format("{} ({})", frame.function, file)
                                 : fmt::format("{} ({}:{})", frame.function, file, frame.line));
}

std::string stuck_text(const Findings& f, const Terminal& terminal) {
  std::string text = unfinished_text(f.stuck, "for at least", &Stuck::at_least, terminal);
  for (std::size_t i = 0; i < std::min(kMostUnfinished, f.stuck.size()); ++i)
    text += frames_text(f.stuck[i], terminal);
  return text;
}

std::string cut_short_text(const Findings& f, const Terminal& terminal) {
  return unfinished_text(f.cut_short, "for at most", &CutShort::at_most, terminal);
}

std::string workers_text(const Findings& f, const Terminal& terminal) {
  if (f.workers.empty()) return {};
  const bool merged = f.workers.size() > kMostProcesses;
  const LoaderRows loaders = loader_rows(f);
  Table table({{"loader"},
               {"worker"},
               {merged ? "processes" : "pid"},
               {"batches"},
               {.title = "mean batch", .importance = 1},
               {.title = "preprocessing", .importance = 3},
               {.title = "life", .importance = 4},
               {"busy"},
               {.right = false, .importance = 2, .style = Style::cyan}});
  const WorkerRows rows = rows_of(f, loaders, merged);
  std::size_t shown = 0;
  for (const auto& [key, row] : rows) {
    if (++shown > kMostRows) break;
    const auto& [loader, worker, process] = key;
    const auto busy = percent_of(row.fetch, row.life);
    const std::string mean =
        row.batches == 0 ? "-" : human_time(row.fetch / static_cast<double>(row.batches));
    table.add({loader_name(loaders, loader), worker < 0 ? "-" : std::to_string(worker),
               merged ? human_count(row.processes) : std::to_string(row.pid), human_count(row.batches), mean,
               human_time(row.fetch), human_time(row.life), percent_or_dash(busy), bar_of(busy)});
  }
  return table.text(terminal) + rest_text(rows.size());
}

std::string loaders_text(const Findings& f, const Terminal& terminal) {
  if (f.loaders.empty()) return {};
  const LoaderRows loaders = loader_rows(f);
  std::vector<Column> columns{{"loader"},
                              {.title = "made at", .right = false, .flexible = true, .narrowest = 16},
                              {.title = "pid", .importance = f.files.size() > 1 ? 1 : 6},
                              {.title = "dataset", .right = false, .flexible = true},
                              {.title = "batch size", .importance = 4},
                              {"workers"},
                              {.title = "prefetch", .importance = 6},
                              {.title = "pin", .right = false, .importance = 7},
                              {.title = "persistent", .right = false, .importance = 8},
                              {.title = "epochs", .importance = 3},
                              {.title = "an epoch", .importance = 5},
                              {"batches"},
                              {.title = "step", .importance = 1},
                              {"waited"},
                              {.right = false, .importance = 2, .style = Style::cyan}};
  if (loaders.folded) {
    columns.front().title = "first";
    columns.insert(columns.begin() + 1, Column{"loaders"});
  }
  Table table(std::move(columns));
  for (std::size_t at = 0; at < std::min(kMostRows, loaders.rows.size()); ++at)
    add_loader(table, loaders, at);
  return table.text(terminal) + rest_text(loaders.rows.size());
}

}  // namespace lotus::analyzer
