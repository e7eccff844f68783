#include "answers/report/loader_rows.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace lotus::analyzer {
namespace {

// What the loaders of a row have in common.
auto common_of(const LoaderFinding& finding) {
  const Loader l = finding.loader.value_or(Loader{});
  return std::tuple(finding.loader.has_value(), l.file, l.line, l.variable, l.name(), l.workers, l.prefetch,
                    l.batch_size, l.pin_memory, l.persistent, l.in_order);
}

void add(LoaderRow& row, const LoaderFinding& finding) {
  if (row.loaders == 0) {
    row.first = &finding;
    row.epoch_batches = finding.epoch_batches;
  }
  if (row.epoch_batches != finding.epoch_batches) row.epoch_batches.reset();
  ++row.loaders;
  row.epochs += finding.epochs;
  row.batches += finding.batches();
  row.steps += finding.train_step.count();
  row.trainings.insert(finding.training);
  row.step += finding.train_step.sum();
  if (finding.taken_elsewhere()) return;
  row.next += finding.next;
  row.loop += finding.loop;
}

// The rows in which training spent the most time come first.
void sort(LoaderRows& all) {
  std::vector<std::size_t> order(all.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return all.rows[x].loop > all.rows[y].loop; });
  std::vector<std::size_t> place(order.size());
  std::vector<LoaderRow> sorted;
  for (const std::size_t old : order) {
    place[old] = sorted.size();
    sorted.push_back(std::move(all.rows[old]));
  }
  all.rows = std::move(sorted);
  for (std::size_t& row : all.row_of) row = place[row];
}

}  // namespace

LoaderRows loader_rows(const Findings& findings) {
  LoaderRows all;
  all.folded = findings.loaders.size() > LoaderRows::kMostLoaders;
  std::map<decltype(common_of(LoaderFinding{})), std::size_t> known;
  for (const LoaderFinding& finding : findings.loaders) {
    const std::size_t next = all.rows.size();
    const std::size_t at = all.folded ? known.try_emplace(common_of(finding), next).first->second : next;
    if (at == next) all.rows.emplace_back();
    add(all.rows[at], finding);
    all.row_of.push_back(at);
  }
  if (all.folded) sort(all);
  return all;
}

}  // namespace lotus::analyzer
