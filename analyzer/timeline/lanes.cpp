#include "timeline/lanes.hpp"

#include <fmt/format.h>

#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

// Numbers that no process or thread of Linux has (PID_MAX_LIMIT is 2^22).
constexpr std::uint64_t kReusedPids = 10'000'000;
constexpr std::uint64_t kUnknownTids = 5'000'000;
constexpr std::uint64_t kBatchesTid = 6'000'000;
constexpr std::uint32_t kBatchesStream = UINT32_MAX;

struct Role {
  const char* name;
  int order;
};

// What a span of this kind says about its thread.
Role role_of(Kind kind) {
  switch (kind) {
    case Kind::next:
    case Kind::wait:
    case Kind::start_workers:
      return {"training loop", 2};
    case Kind::worker_loop:
      return {"worker", 3};
    case Kind::pin:
      return {"pin memory thread", 4};
    case Kind::serialize:
    case Kind::send:
      return {"feeder thread", 5};
    default:
      return {"", 0};
  }
}

std::string process_name(const Process& process) {
  if (process.worker_of) return fmt::format("worker {} (pid {})", process.worker_of->worker, process.pid);
  if (!process.iterators.empty()) return fmt::format("training process (pid {})", process.pid);
  return fmt::format("process (pid {})", process.pid);
}

std::string named(const char* what, Lane lane, const std::string& name) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", what, lane.pid,
                     lane.tid, json_string(name));
}

std::string ordered(const char* what, Lane lane, std::uint64_t order) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", what,
                     lane.pid, lane.tid, order);
}

}  // namespace

// A pid that the system gave out again gets a number of its own.
std::uint64_t Lanes::pid_of(const Process& process) {
  const auto known = pids_.find(&process);
  if (known != pids_.end()) return known->second;
  std::uint64_t pid = process.pid;
  if (!taken_.try_emplace(pid, &process).second) pid = kReusedPids + process.number;
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

Lane Lanes::batches_of(const Process& training) {
  Thread& target = thread(training, kBatchesStream);
  target.lane.tid = kBatchesTid;
  target.name = "batches: waited for, consumed";
  target.order = 1;
  return target.lane;
}

std::vector<std::string> Lanes::metadata() const {
  std::vector<std::string> events;
  for (const auto& [process, pid] : pids_) {
    const Lane lane{pid, 0};
    // Training processes first, then workers in the order in which they were found.
    const std::uint64_t order = process->number + (process->worker_of ? 100'000u : 0u);
    events.push_back(named("process_name", lane, process_name(*process)));
    events.push_back(ordered("process_sort_index", lane, order));
  }
  for (const auto& [key, target] : threads_) {
    events.push_back(named("thread_name", target.lane, target.name));
    events.push_back(ordered("thread_sort_index", target.lane, static_cast<std::uint64_t>(target.order)));
  }
  return events;
}

}  // namespace lotus::analyzer
