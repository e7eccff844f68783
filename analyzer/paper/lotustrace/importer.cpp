#include "paper/lotustrace/importer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "paper/lotustrace/importer_state.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer::lotustrace {
namespace {

constexpr std::uint64_t kUsualPrefetch = 2;  // the DataLoader's default: no log says it

std::uint64_t first_known(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return a > 0 ? a : b > 0 ? b : c;
}

}  // namespace

Importer::Importer(const Run& run, const KnownFacts& known, const Imported& facts, Output& out,
                   Complaints& complaints)
    : run_(run), known_(known), facts_(facts), out_(out), complaints_(complaints) {
  for (const auto& directory : run.directories) records_.push_back(read_batches(directory, complaints));
  plan_ = plan_of(run, records_);
  if (plan_.first >= plan_.last)
    throw Unusable(fmt::format("{}: its logs hold no record", escaped(run.directories.front().path)));
  for (std::size_t i = 0; i < run.directories.size(); ++i) {
    auto& list = sources_.emplace_back();
    const auto& workers = run.directories[i].workers;
    for (std::size_t w = 0; w < workers.size(); ++w)
      list.push_back(std::make_unique<Source>(workers[w], records_[i].epoch_of[w]));
  }
}

Importer::~Importer() = default;

std::uint64_t Importer::epochs() const {
  std::uint64_t count = 0;
  for (const auto& training : plan_.trainings) count += training.epochs.size();
  return count;
}

// Writes epoch by epoch, so that records of the same batch lie close together.
void Importer::run() {
  const auto session = plan_.trainings.empty() ? 0 : plan_.trainings.front().pid;
  file_ = std::make_unique<TraceWriter>(pair_of(plan_.first), ClockSource::monotonic, 0, session);
  define_all();
  for (auto& training : trainings_) {
    for (const auto& epoch : training->plan.epochs) {
      write_steps(*training, epoch.last);
      for (auto& source : sources_[epoch.directory])
        if (source->file.name.pid != training->plan.pid) write_blocks(*source, epoch);
      write_out();
    }
    write_steps(*training, INT64_MAX);
    write_pins(*training);
  }
  // The rest: logs without batches, and records of batches that a worker never finished.
  for (auto& list : sources_)
    for (auto& source : list)
      while (fill(*source)) write_block(process_of(source->file.name.pid), *source, {});
  finish();
}

Importer::Process& Importer::process_of(std::uint32_t pid) {
  auto& slot = processes_[pid];
  if (slot == nullptr)
    slot = std::make_unique<Process>(*file_, static_cast<std::uint32_t>(processes_.size()), pid);
  return *slot;
}

void Importer::define_all() {
  for (const auto& planned : plan_.trainings) {
    trainings_.push_back(std::make_unique<Training>(planned));
    if (planned.pid != 0) define_training(*trainings_.back());
  }
  for (const auto& [pid, worker] : plan_.workers) {
    define_process(process_of(pid), run_.directories[worker.files.front().directory].path);
    define_links(pid, worker);
    begin_worker(pid, worker);
  }
  define_imported();
}

void Importer::define_process(Process& process, const std::string& directory) {
  const std::uint64_t at = ticks_of(plan_.first);
  const auto parent = plan_.trainings.size() == 1 && plan_.trainings.front().pid != process.pid
                          ? plan_.trainings.front().pid
                          : 0U;
  file_->process(process.number, process.pid, parent, pair_of(plan_.first));
  file_->define<Kind::process>(process.number, at, process.pid, parent, "", run_.configuration.name,
                               "imported from " + directory, directory, "", 0, 0, "");
  file_->define<Kind::thread>(process.number, at, kMainStream, process.pid, "main");
}

void Importer::define_training(Training& training) {
  Process& process = process_of(training.plan.pid);
  const std::uint64_t at = ticks_of(plan_.first);
  const Configuration& named = run_.configuration;
  const bool pins = std::any_of(training.plan.loaders.begin(), training.plan.loaders.end(),
                                [](const PlannedLoader& loader) { return loader.pinned; });
  define_process(process,
                 run_.directories[training.plan.epochs.empty() ? 0 : training.plan.epochs[0].directory].path);
  if (pins) file_->define<Kind::thread>(process.number, at, kPinStream, process.pid, "pin memory");
  for (const auto& loader : training.plan.loaders)
    file_->define<Kind::loader>(
        process.number, at, loader.id, first_known(known_.workers, named.workers, loader.workers),
        kUsualPrefetch, first_known(known_.batch_size, named.batch_size, loader.most_samples),
        loader.pinned ? 1 : 0, loader.persistent ? 1 : 0, loader.in_order ? 1 : 0, "", -1, "");
  for (const auto& epoch : training.plan.epochs) {
    if (epoch.reset == 0) file_->define<Kind::iterator>(process.number, at, epoch.iterator, epoch.loader);
    file_->define<Kind::epoch>(process.number, ticks_of(epoch.first), epoch.iterator, epoch.reset,
                               epoch.number);
    const LogDirectory& logs = run_.directories[epoch.directory];
    const bool inline_fetch = std::any_of(logs.workers.begin(), logs.workers.end(), [&](const LogFile& file) {
      return file.name.pid == training.plan.pid;
    });
    const LoggedEpoch& logged = records_[epoch.directory].epochs[epoch.epoch];
    const BatchName name{epoch.iterator, epoch.reset, 0};
    const auto steps = steps_of(logged, name, inline_fetch, logs.main.front().path, complaints_);
    training.steps.insert(training.steps.end(), steps.begin(), steps.end());
    for (const auto& [number, batch] : logged.batches)
      if (batch.pinned) training.pins.push_back({*batch.pinned, {epoch.iterator, epoch.reset, number}});
    batches_ += logged.batches.size();
  }
  std::stable_sort(training.steps.begin(), training.steps.end(),
                   [](const Step& a, const Step& b) { return a.at < b.at; });
}

void Importer::define_links(std::uint32_t pid, const PlannedWorker& worker) {
  for (const auto& link : worker.links)
    file_->define<Kind::worker_link>(process_of(link.training).number, ticks_of(worker.extent.first),
                                     link.iterator, link.id, pid);
}

void Importer::begin_worker(std::uint32_t pid, const PlannedWorker& worker) {
  std::uint64_t workers = 0;
  for (const auto& training : plan_.trainings)
    for (const auto& loader : training.loaders) workers = std::max(workers, loader.workers);
  Process& process = process_of(pid);
  process.now = worker.extent.first;
  process.main.record<Kind::worker_loop>(ticks_of(process.now), worker.id, workers);
  process.working = true;
}

void Importer::define_imported() {
  const std::uint32_t number = processes_.begin()->second->number;
  const std::uint64_t at = ticks_of(plan_.first);
  file_->define<Kind::configuration>(number, at, run_.configuration.name,
                                     first_known(known_.ranks, run_.configuration.ranks, 0));
  for (const auto& mapped : facts_.mapped)
    file_->define<Kind::mapped>(number, at, mapped.op, mapped.function, mapped.library);
  for (const auto& counter : facts_.counters)
    file_->define<Kind::counter>(number, at, counter.function, counter.library, counter.name,
                                 fmt::format("{}", counter.value), counter.percent ? 1 : 0);
}

void Importer::write_out() {
  constexpr std::size_t kGathered = 1 << 20;
  if (file_->bytes.size() < kGathered) return;
  out_.write({reinterpret_cast<const char*>(file_->bytes.data()), file_->bytes.size()});
  file_->bytes.clear();
}

void Importer::finish() {
  for (auto& [pid, process] : processes_) {
    if (process->working) process->main.record<Kind::leave>(ticks_of(process->now));
    process->main.flush();
    process->pin.flush();
    ProcessEndFrame end{};
    end.seen = pair_of(plan_.last);
    file_->process_end(process->number, end);
  }
  file_->trailer(pair_of(plan_.last));
  out_.write({reinterpret_cast<const char*>(file_->bytes.data()), file_->bytes.size()});
  file_->bytes.clear();
}

}  // namespace lotus::analyzer::lotustrace
