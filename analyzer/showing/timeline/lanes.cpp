#include "showing/timeline/lanes.hpp"

#include <fmt/format.h>

namespace lotus::analyzer {
namespace {

// Numbers that no process or thread of Linux has (PID_MAX_LIMIT is 2^22).
constexpr std::uint64_t kReusedPids = 10'000'000;
constexpr std::uint64_t kUnknownTids = 5'000'000;
constexpr std::uint64_t kOutcomeTids = 6'000'000;

struct Role {
  const char* name;
  int order;
};

constexpr Role kOutcomes[] = {
    {"batches waited for", 1}, {"batches that came early", 2}, {"batches handed to training", 3}};

// The role of a thread with spans of this kind.
Role role_of(Kind kind) {
  switch (kind) {
    case Kind::next:
    case Kind::wait:
    case Kind::start_workers:
      return {"training loop", 4};
    case Kind::worker_loop:
      return {"worker", 5};
    case Kind::pin:
      return {"pin memory thread", 6};
    case Kind::serialize:
    case Kind::send:
      return {"feeder thread", 7};
    default:
      return {"", 0};
  }
}

std::string process_name(const Process& process) {
  if (process.worker_of) return fmt::format("worker {} (pid {})", process.worker_of->worker, process.pid);
  if (!process.iterators.empty()) return fmt::format("training process (pid {})", process.pid);
  return fmt::format("process (pid {})", process.pid);
}

// Training processes first, then workers in the order in which they were found.
std::uint64_t order_of(const Process& process) {
  constexpr std::uint64_t kWorkers = 100'000;
  return process.number + (process.worker_of ? kWorkers : 0);
}

}  // namespace

std::string of_loader(const char* what, const Loader* loader) {
  return loader == nullptr ? what : fmt::format("{} (loader {})", what, loader->id);
}

std::uint64_t Lanes::pid_of(const Process& process) {
  const auto known = pids_.find(&process);
  if (known != pids_.end()) return known->second;
  std::uint64_t pid = process.pid;
  if (!taken_.try_emplace(pid, &process).second) {
    pid = kReusedPids + process.number;
    taken_.emplace(pid, &process);
  }
  pids_[&process] = pid;
  return pid;
}

Lanes::Thread& Lanes::thread(const Process& process, std::uint32_t stream) {
  const auto [slot, fresh] = threads_.try_emplace({&process, stream});
  if (!fresh) return slot->second;
  const auto known = process.threads.find(stream);
  const bool has_tid = known != process.threads.end() && known->second.tid != 0;
  slot->second.lane = {pid_of(process), has_tid ? known->second.tid : kUnknownTids + stream};
  slot->second.name = known != process.threads.end() ? known->second.name : fmt::format("thread {}", stream);
  by_lane_.try_emplace(slot->second.lane, &slot->second);
  return slot->second;
}

Lane Lanes::of(const Stream& stream, Kind kind) {
  Thread& target = thread(*stream.process, stream.number);
  const Role role = role_of(kind);
  if (role.order != 0 && (target.order == 0 || role.order < target.order)) {
    target.name = role.name;
    target.order = role.order;
  }
  return target.lane;
}

Lane Lanes::of(const Process& process, std::uint32_t stream) { return thread(process, stream).lane; }

Lane Lanes::of(const BatchKey& key, Outcome outcome) {
  const Process& training = *key.training;
  const auto which = static_cast<std::uint64_t>(outcome);
  const std::uint64_t number = training.loader_id_of(key.iterator) * std::size(kOutcomes) + which;
  const auto [slot, fresh] = outcomes_.try_emplace({&training, number});
  if (fresh) {
    const Role& role = kOutcomes[which];
    slot->second = {
        {pid_of(training), kOutcomeTids + outcomes_.size()},
        of_loader(role.name, training.loaders.size() > 1 ? training.loader_of(key.iterator) : nullptr),
        role.order};
    by_lane_.try_emplace(slot->second.lane, &slot->second);
  }
  return slot->second.lane;
}

std::vector<Lanes::Name> Lanes::processes() const {
  std::vector<Name> names;
  for (const auto& [process, pid] : pids_)
    names.push_back({{pid, 0}, process_name(*process), order_of(*process)});
  return names;
}

std::vector<Lanes::Name> Lanes::threads() const {
  std::vector<Name> names;
  for (const auto* lanes : {&outcomes_, &threads_})
    for (const auto& [key, target] : *lanes)
      names.push_back({target.lane, target.name, static_cast<std::uint64_t>(target.order)});
  return names;
}

Lanes::Name Lanes::process(std::uint64_t pid) const {
  const Process& process = *taken_.at(pid);
  return {{pid, 0}, process_name(process), order_of(process)};
}

Lanes::Name Lanes::thread(Lane lane) const {
  const auto found = by_lane_.find(lane);
  if (found == by_lane_.end()) return {lane, fmt::format("thread {}", lane.tid), 0};
  return {lane, found->second->name, static_cast<std::uint64_t>(found->second->order)};
}

}  // namespace lotus::analyzer
