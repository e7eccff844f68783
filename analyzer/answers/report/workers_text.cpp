#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "answers/report/cells.hpp"
#include "answers/report/sections.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"

namespace lotus::analyzer {
namespace {

// More worker processes than this are merged into a row for each worker of each loader: a loader without
// persistent workers starts new ones each epoch.
constexpr std::size_t kMostProcesses = 16;

struct WorkerRow {
  std::uint64_t processes = 0, batches = 0, pid = 0;
  double fetch = 0, life = 0;
};
using WorkerRows = std::map<std::tuple<std::size_t, std::int64_t, std::size_t>, WorkerRow>;

// By loader, worker id and process (0: merged).
WorkerRows rows_of(const Findings& f, bool merged) {
  WorkerRows rows;
  for (std::size_t i = 0; i < f.workers.size(); ++i) {
    const WorkerFinding& worker = f.workers[i];
    WorkerRow& row = rows[{worker.loader.value_or(f.loaders.size()), worker.id, merged ? 0 : i}];
    ++row.processes;
    row.batches += worker.batches;
    row.pid = worker.process->pid;
    row.fetch += worker.fetch;
    row.life += worker.life;
  }
  return rows;
}

std::string loader_name(const Findings& f, std::size_t loader) {
  const bool known = loader < f.loaders.size() && f.loaders[loader].loader;
  return known ? std::to_string(f.loaders[loader].loader->id) : "-";
}

// `train_loader, train.py:88`
std::string place_of(const Loader& loader) {
  if (loader.file.empty()) return "-";
  const std::string place = fmt::format("{}:{}", loader.file.substr(loader.file.rfind('/') + 1), loader.line);
  return escaped(loader.variable.empty() ? place : loader.variable + ", " + place);
}

void add_loader(Table& table, const LoaderFinding& finding) {
  static const Loader kUnknownLoader = [] {
    Loader unknown;
    unknown.dataset = "(its definition is lost)";
    return unknown;
  }();
  const Loader& l = finding.loader ? *finding.loader : kUnknownLoader;
  const auto waited = finding.waited_percent();
  const auto of_torch = [&](std::string setting) { return l.is_other() ? "-" : std::move(setting); };
  table.add({finding.loader ? std::to_string(l.id) : "-", place_of(l), std::to_string(finding.training->pid),
             escaped(l.is_other() ? l.name() : l.dataset),
             l.batch_size == 0 ? "-" : human_count(l.batch_size), of_torch(human_count(l.workers)),
             of_torch(human_count(l.prefetch)), of_torch(l.pin_memory ? "yes" : "no"),
             of_torch(l.persistent ? "yes" : "no"), human_count(finding.epochs),
             finding.epoch_batches == 0 ? "-" : human_count(finding.epoch_batches),
             human_count(finding.batches()),
             finding.train_step.empty() ? "-" : human_time(finding.train_step.mean()),
             percent_or_dash(waited), bar_of(waited)});
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
  Table table({{"loader"},
               {"worker"},
               {merged ? "processes" : "pid"},
               {"batches"},
               {.title = "mean batch", .importance = 1},
               {.title = "preprocessing", .importance = 3},
               {.title = "life", .importance = 4},
               {"busy"},
               {.right = false, .importance = 2, .style = Style::cyan}});
  for (const auto& [key, row] : rows_of(f, merged)) {
    const auto& [loader, worker, process] = key;
    const auto busy = percent_of(row.fetch, row.life);
    const std::string mean =
        row.batches == 0 ? "-" : human_time(row.fetch / static_cast<double>(row.batches));
    table.add({loader_name(f, loader), worker < 0 ? "-" : std::to_string(worker),
               merged ? human_count(row.processes) : std::to_string(row.pid), human_count(row.batches), mean,
               human_time(row.fetch), human_time(row.life), percent_or_dash(busy), bar_of(busy)});
  }
  return table.text(terminal);
}

std::string loaders_text(const Findings& f, const Terminal& terminal) {
  if (f.loaders.empty()) return {};
  Table table({{"loader"},
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
               {.right = false, .importance = 2, .style = Style::cyan}});
  for (const auto& finding : f.loaders) add_loader(table, finding);
  return table.text(terminal);
}

}  // namespace lotus::analyzer
