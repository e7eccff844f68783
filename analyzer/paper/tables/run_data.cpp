#include "paper/tables/run_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "answers/counters/functions.hpp"
#include "answers/report/collector.hpp"
#include "answers/stacks/function_map.hpp"
#include "answers/stats/interval.hpp"
#include "paper/tables/own_counters.hpp"
#include "reading/input/read_trace.hpp"
#include "reading/model/fan.hpp"
#include "reading/model/iteration.hpp"

namespace lotus::analyzer {
namespace {

constexpr double kConfidence = 0.75;  // the research system's
using LoaderKey = std::pair<const Process*, std::uint64_t>;

// Batches, and how long each iterator's epochs were.
class Rows : public Visitor {
 public:
  struct Reset {
    std::uint64_t first = kUnknown, last = 0;
  };

  void on_batch(const Batch& batch) override { batches.push_back(batch); }
  void on_span(const Span& span) override {
    if (span.kind() != Kind::next) return;
    Reset& reset = resets[iteration_of(span)];
    reset.first = std::min(reset.first, span.data.start);
    reset.last = std::max(reset.last, span.end);
  }

  std::vector<Batch> batches;
  std::map<IterationKey, Reset> resets;
};

LoaderKey loader_of(const BatchKey& key) { return {key.training, key.training->loader_id_of(key.iterator)}; }

class Builder {
 public:
  Builder(const Trace& trace, const Rows& rows, const Profile& profile, const FunctionCounts& counted,
          const Reading& reading)
      : trace_(trace), rows_(rows), profile_(profile), counted_(counted), reading_(reading) {}

  void build(RunData& run) {
    choose_loader();
    configure(run);
    for (const Batch& batch : rows_.batches)
      if (loader_of(batch.key) == main_) run.batches.push_back(row_of(batch));
    std::sort(run.batches.begin(), run.batches.end(), [](const RunBatch& a, const RunBatch& b) {
      return std::tie(a.epoch, a.batch) < std::tie(b.epoch, b.batch);
    });
    for (const auto& [key, reset] : rows_.resets) {
      const auto& [process, iterator, number] = key;
      if (loader_of({process, iterator, number, 0}) != main_) continue;
      run.epochs.push_back({process->epoch_number_of(iterator, number),
                            static_cast<double>(trace_.clock.between(reset.first, reset.last)) / 1e9});
    }
    add_functions(run);
  }

 private:
  // The one with most batches, of the first process that has it.
  void choose_loader() {
    std::map<LoaderKey, std::uint64_t> counts;
    for (const Batch& batch : rows_.batches) ++counts[loader_of(batch.key)];
    std::uint64_t most = 0;
    for (const auto& [key, count] : counts) {
      const bool earlier = main_.first == nullptr || key.first->number < main_.first->number;
      if (count > most || (count == most && earlier)) main_ = key;
      most = std::max(most, count);
    }
  }

  void configure(RunData& run) const {
    RunConfiguration& configuration = run.configuration;
    configuration.file = trace_.source.path();
    std::set<const Process*> training;
    for (const Batch& batch : rows_.batches) training.insert(batch.key.training);
    std::uint64_t said = trace_.catalog.imported.ranks;
    for (const auto& [number, process] : trace_.catalog.processes())
      if (process->rank) said = std::max(said, process->rank->world);
    configuration.ranks = said > 0 ? said : training.size();
    for (const auto& [number, process] : trace_.catalog.processes())
      if (process->worker_of) run.worker_ids[process->pid] = process->worker_of->worker;
    if (main_.first == nullptr) return;
    run.training_pid = main_.first->pid;
    const auto loader = main_.first->loaders.find(main_.second);
    if (loader == main_.first->loaders.end()) return;
    configuration.batch_size = loader->second.batch_size;
    configuration.workers = loader->second.workers;
    configuration.dataset = loader->second.dataset;
  }

  RunBatch row_of(const Batch& batch) const {
    const auto& clock = trace_.clock;
    RunBatch row;
    row.epoch = batch.key.training->epoch_number_of(batch.key.iterator, batch.key.reset);
    row.batch = batch.key.batch;
    row.worker = batch.worker == nullptr ? 0 : batch.worker->pid;
    row.out_of_order = batch.out_of_order;
    if (batch.fetch.known() && batch.fetched == Fetched::made) {
      row.fetch_start = clock.ns(batch.fetch.start);
      row.fetch_ns = clock.between(batch.fetch.start, batch.fetch.end);
    }
    if (batch.waited()) {
      row.wait_start = clock.ns(batch.wait.start);
      row.wait_ns = wait_ns(batch, clock);
    }
    if (batch.consumed != kUnknown) row.consumed = clock.ns(batch.consumed);
    if (row.consumed && row.fetch_ns) row.delay_ns = *row.consumed - (*row.fetch_start + *row.fetch_ns);
    return row;
  }

  void add_functions(RunData& run) const {
    MapBuilder builder;
    builder.add(trace_, profile_, reading_);
    const FunctionMap map = builder.take({});
    const Imported& imported = trace_.catalog.imported;
    add_mapping(run, map);
    if (imported.counters.empty()) {
      CounterSplit sampled = sampled_time(map);
      if (!sampled.functions.empty()) run.counters.push_back(std::move(sampled));
      add_own_counters(run.counters, counted_, run.findings.counters);
      return;
    }
    OpSeconds elapsed;
    for (const auto& op : run.findings.ops) elapsed[op.op.name] += op.wall.sum() / 1e9;
    run.counters = split_counters(imported.counters, imported.mapped, elapsed);
  }

  void add_mapping(RunData& run, const FunctionMap& map) const {
    for (const auto& mapped : trace_.catalog.imported.mapped) run.mapping.push_back({mapped, {}, {}, {}, {}});
    if (!run.mapping.empty()) return;
    for (const auto& op : map.ops)
      for (const auto& function : op.functions) {
        if (!function.listed) continue;
        const double span = function.self.cpu_ns / static_cast<double>(std::max<std::uint64_t>(1, op.calls));
        run.mapping.push_back({{op.op.name, function.frame.name, function.frame.library},
                               100 * function.share,
                               100 * function.interval.low,
                               100 * function.interval.high,
                               runs_to_see(span, period_ns(), kConfidence)});
      }
  }

  double period_ns() const {
    double period = 0;
    for (const auto& [number, process] : trace_.catalog.processes())
      if (process->sampling) period = std::max(period, static_cast<double>(process->sampling->period_ns));
    return period;
  }

  // With samples that know their operation, nothing has to be split.
  static CounterSplit sampled_time(const FunctionMap& map) {
    CounterSplit split{"CPU time", false, {}, {}, map.outside.cpu_ns / 1e9};
    std::map<std::pair<std::string, std::string>, FunctionSplit> functions;
    for (const auto& op : map.ops)
      for (const auto& function : op.functions) {
        const double seconds = function.self.cpu_ns / 1e9;
        if (seconds <= 0) continue;
        auto& row = functions[{function.frame.name, function.frame.library}];
        row.function = function.frame.name;
        row.library = function.frame.library;
        row.value += seconds;
        row.by_op[op.op.name] += seconds;
        split.by_op[op.op.name] += seconds;
      }
    for (auto& [key, row] : functions) split.functions.push_back(std::move(row));
    std::stable_sort(split.functions.begin(), split.functions.end(),
                     [](const FunctionSplit& a, const FunctionSplit& b) { return a.value > b.value; });
    return split;
  }

  const Trace& trace_;
  const Rows& rows_;
  const Profile& profile_;
  const FunctionCounts& counted_;
  const Reading& reading_;
  LoaderKey main_{};
};

std::string label_of(const RunData& run) {
  const std::string& imported = run.trace->catalog.imported.configuration;
  const RunConfiguration& configuration = run.configuration;
  if (!imported.empty()) return imported;
  if (run.batches.empty()) return std::filesystem::path(configuration.file).stem().string();
  std::string label = fmt::format("b{} w{}", configuration.batch_size, configuration.workers);
  if (configuration.ranks > 1) label += fmt::format(" r{}", configuration.ranks);
  return label;
}

}  // namespace

RunData read_run(const std::string& path) {
  auto trace = std::make_shared<Trace>(path);
  RunData run;
  FindingsCollector collector;
  Rows rows;
  Profile profile(*trace);
  FunctionCounter counting;
  Fan fan({&collector, &rows, &profile, &counting});
  collector.begin(*trace);
  counting.begin(*trace);
  const Reading reading = read_trace(*trace, fan);
  collector.end(reading);
  counting.end();
  const FunctionCounts counted = counting.take();
  run.findings = collector.take();
  run.trace = trace;
  Builder(*trace, rows, profile, counted, reading).build(run);
  run.configuration.label = label_of(run);
  return run;
}

std::vector<RunData> read_runs(const std::vector<std::string>& paths) {
  std::vector<RunData> runs;
  std::map<std::string, std::uint64_t> labels;
  for (const auto& path : paths) ++labels[runs.emplace_back(read_run(path)).configuration.label];
  for (auto& run : runs) {
    std::string& label = run.configuration.label;
    if (labels[label] > 1) label += " " + std::filesystem::path(run.configuration.file).stem().string();
  }
  return runs;
}

}  // namespace lotus::analyzer
