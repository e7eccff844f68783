#include "paper/lotustrace/import_plan.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace lotus::analyzer::lotustrace {
namespace {

class Planner {
 public:
  Planner(const Run& run, const std::vector<BatchRecords>& records) : run_(run), records_(records) {}

  Plan run() {
    for (std::size_t i = 0; i < run_.directories.size(); ++i) add_directory(i);
    for (auto& training : plan_.trainings) {
      order(training);
      number_iterators(training);
      for (const auto& epoch : training.epochs) link_workers(training, epoch);
    }
    for (auto& [pid, worker] : plan_.workers) sort_files(worker);
    plan_.first = extent_.any() ? extent_.first : 0;
    plan_.last = extent_.any() ? extent_.last : 0;
    return std::move(plan_);
  }

 private:
  const LogDirectory& directory(std::size_t number) const { return run_.directories[number]; }

  PlannedTraining& training_of(std::uint32_t pid) {
    for (auto& training : plan_.trainings)
      if (training.pid == pid) return training;
    return plan_.trainings.emplace_back(PlannedTraining{pid, {}, {}});
  }

  void add_directory(std::size_t number) {
    const LogDirectory& logs = directory(number);
    const std::uint32_t pid = logs.main.empty() ? 0 : logs.main.front().name.pid;
    PlannedTraining& training = training_of(pid);
    const std::uint64_t loader = std::max<std::uint64_t>(1, logs.part.loader);
    if (std::none_of(training.loaders.begin(), training.loaders.end(),
                     [&](const PlannedLoader& known) { return known.id == loader; }))
      training.loaders.push_back({loader, 0, 0, false, false});
    for (std::size_t epoch = 0; epoch < records_[number].epochs.size(); ++epoch)
      add_epoch(training, number, epoch, loader);
    note(records_[number].main);
    for (std::size_t i = 0; i < logs.workers.size(); ++i) add_worker(number, i, pid);
  }

  void note(const BatchRecords::Extent& extent) {
    if (extent.any()) extent_.add(extent.first, extent.last);
  }

  void add_epoch(PlannedTraining& training, std::size_t number, std::size_t epoch, std::uint64_t loader) {
    BatchRecords::Extent extent;
    for (const auto& [id, batch] : records_[number].epochs[epoch].batches)
      for (const auto* stamp :
           {&batch.preprocessed, &batch.wait, &batch.consumed, &batch.queued, &batch.pinned})
        if (*stamp) extent.add((*stamp)->start, (*stamp)->end());
    if (!extent.any()) return;
    training.epochs.push_back({number, epoch, loader, 0, 0, 0, extent.first, extent.last});
  }

  void add_worker(std::size_t number, std::size_t position, std::uint32_t training) {
    const auto& extent = records_[number].workers[position];
    note(extent);
    const std::uint32_t pid = directory(number).workers[position].name.pid;
    if (pid == training || !extent.any()) return;
    PlannedWorker& worker = plan_.workers[pid];
    worker.files.push_back({number, position});
    worker.extent.add(extent.first, extent.last);
  }

  static void order(PlannedTraining& training) {
    std::sort(training.epochs.begin(), training.epochs.end(),
              [](const PlannedEpoch& a, const PlannedEpoch& b) {
                return std::tie(a.first, a.directory, a.epoch) < std::tie(b.first, b.directory, b.epoch);
              });
    std::map<std::uint64_t, std::uint64_t> epochs;  // by loader
    for (auto& epoch : training.epochs) epoch.number = epochs[epoch.loader]++;
  }

  // The processes that made batches of an epoch, by the first batch that each made: that is the order of
  // workers.
  std::vector<std::uint32_t> makers(const PlannedTraining& training, const PlannedEpoch& epoch) const {
    std::vector<std::uint32_t> pids;
    for (const auto& [number, batch] : records_[epoch.directory].epochs[epoch.epoch].batches) {
      if (!batch.preprocessed) continue;
      const std::uint32_t pid = directory(epoch.directory).workers[batch.worker].name.pid;
      if (pid != training.pid && std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
    }
    return pids;
  }

  void number_iterators(PlannedTraining& training) {
    std::uint64_t iterators = 0;
    for (auto& loader : training.loaders) {
      std::set<std::uint32_t> seen;
      for (const auto& epoch : training.epochs) {
        if (epoch.loader != loader.id) continue;
        const auto pids = makers(training, epoch);
        loader.in_order = loader.in_order && records_[epoch.directory].in_order;
        loader.most_samples = std::max(loader.most_samples, records_[epoch.directory].most_samples);
        loader.workers = std::max<std::uint64_t>(loader.workers, pids.size());
        for (const std::uint32_t pid : pids) loader.persistent |= !seen.insert(pid).second;
        for (const auto& [number, batch] : records_[epoch.directory].epochs[epoch.epoch].batches)
          loader.pinned |= batch.pinned.has_value();
      }
      if (loader.persistent) ++iterators;
      for (auto& epoch : training.epochs) {
        if (epoch.loader != loader.id) continue;
        epoch.iterator = loader.persistent ? iterators : ++iterators;
        epoch.reset = loader.persistent ? epoch.number : 0;
      }
    }
  }

  void link_workers(const PlannedTraining& training, const PlannedEpoch& epoch) {
    if (training.pid == 0) return;
    std::uint64_t id = 0;
    for (const std::uint32_t pid : makers(training, epoch)) {
      PlannedWorker& worker = plan_.workers[pid];
      const bool linked = std::any_of(worker.links.begin(), worker.links.end(), [&](const auto& link) {
        return link.training == training.pid && link.iterator == epoch.iterator;
      });
      if (worker.links.empty()) worker.id = id;
      if (!linked) worker.links.push_back({training.pid, epoch.iterator, worker.id});
      ++id;
    }
  }

  void sort_files(PlannedWorker& worker) const {
    const auto first = [&](const PlannedWorker::File& file) {
      return records_[file.directory].workers[file.worker].first;
    };
    std::sort(worker.files.begin(), worker.files.end(),
              [&](const auto& a, const auto& b) { return first(a) < first(b); });
  }

  const Run& run_;
  const std::vector<BatchRecords>& records_;
  Plan plan_;
  BatchRecords::Extent extent_;
};

}  // namespace

Plan plan_of(const Run& run, const std::vector<BatchRecords>& records) { return Planner(run, records).run(); }

}  // namespace lotus::analyzer::lotustrace
