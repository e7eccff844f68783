// Figures 2 and 3: batches on their way from the workers to training.
#include <fmt/format.h>

#include <algorithm>

#include "paper/figures/figures.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

const RunData& only(const std::vector<RunData>& runs) {
  if (runs.size() != 1) throw WrongUsage("this figure shows one trace; name one");
  const RunData& run = runs.front();
  if (run.batches.empty())
    throw Unusable(
        fmt::format("{}: holds no batch, so there is no timeline of them", escaped(run.configuration.file)));
  return run;
}

// Those of an epoch, from the `first`th on.
std::vector<RunBatch> part_of(const RunData& run, std::uint64_t epoch, std::uint64_t first,
                              std::uint64_t count) {
  std::vector<RunBatch> part;
  for (const auto& batch : run.batches)
    if (batch.epoch == epoch && batch.batch >= first && batch.batch - first < count) part.push_back(batch);
  return part;
}

std::string lane_of(const RunData& run, std::uint32_t pid) {
  const auto worker = run.worker_ids.find(pid);
  if (worker != run.worker_ids.end()) return fmt::format("worker {}", worker->second);
  return pid == run.training_pid ? "training" : fmt::format("process {}", pid);
}

DataTable draw(const RunData& run, const std::vector<RunBatch>& part) {
  DataTable table{{{"kind", "kind"},
                   {"lane", "lane"},
                   {"batch", "batch", Unit::count},
                   {"start_ms", "start", Unit::ms},
                   {"duration_ms", "duration", Unit::ms},
                   {"out_of_order", "out of order"}},
                  {}};
  std::int64_t begin = INT64_MAX;
  for (const auto& batch : part)
    for (const auto& start : {batch.fetch_start, batch.wait_start, batch.consumed})
      if (start) begin = std::min(begin, *start);
  const auto add = [&](const char* kind, const std::string& lane, const RunBatch& batch, std::int64_t start,
                       std::int64_t ns) {
    table.add({kind, lane, batch.batch, static_cast<double>(start - begin) / kNsPerMs,
               static_cast<double>(ns) / kNsPerMs, batch.out_of_order});
  };
  for (const auto& batch : part) {
    if (batch.fetch_ns)
      add("preprocessed", lane_of(run, batch.worker), batch, *batch.fetch_start, *batch.fetch_ns);
    if (batch.wait_ns) add("wait", "training", batch, *batch.wait_start, *batch.wait_ns);
    if (batch.consumed) add("consumed", "training", batch, *batch.consumed, 0);
  }
  return table;
}

// From the arrival of a batch that came before its turn to its consumption; 0: in order, or not known.
std::int64_t lay_ready_ns(const RunBatch& batch) {
  return batch.out_of_order && batch.wait_start && batch.consumed ? *batch.consumed - *batch.wait_start : 0;
}

}  // namespace

DataTable timeline_figure(const std::vector<RunData>& runs, const FigureOptions& options) {
  const RunData& run = only(runs);
  const std::uint64_t epoch = options.epoch.value_or(run.batches.front().epoch);
  const auto part = part_of(run, epoch, options.from.value_or(0), options.batches);
  if (part.empty())
    throw WrongUsage(fmt::format("--epoch {} --from {}: {} has no such batch", epoch,
                                 options.from.value_or(0), escaped(run.configuration.file)));
  return draw(run, part);
}

DataTable out_of_order_figure(const std::vector<RunData>& runs, const FigureOptions& options) {
  const RunData& run = only(runs);
  const RunBatch* early = nullptr;
  for (const auto& batch : run.batches)
    if (batch.epoch == options.epoch.value_or(batch.epoch) && batch.batch >= options.from.value_or(0) &&
        lay_ready_ns(batch) > (early ? lay_ready_ns(*early) : 0))
      early = &batch;
  if (early == nullptr)
    throw Unusable(
        fmt::format("{}: every batch of what was asked for arrived in order, so there is nothing to show; a "
                    "run with more workers, or with samples of uneven cost, has some",
                    escaped(run.configuration.file)));
  const std::uint64_t most = std::max<std::uint64_t>(options.batches, 2);
  std::uint64_t first = early->batch;
  for (const auto& batch : run.batches)
    if (batch.epoch == early->epoch && batch.consumed && *batch.consumed > *early->wait_start &&
        batch.batch + most > early->batch)
      first = std::min(first, batch.batch);
  return draw(run, part_of(run, early->epoch, first, early->batch - first + 1));
}

}  // namespace lotus::analyzer
