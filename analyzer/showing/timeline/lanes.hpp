// The processes and threads of a timeline: their numbers, names and order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reading/model/batch.hpp"
#include "reading/model/span.hpp"
#include "reading/trace/catalog.hpp"

namespace lotus::analyzer {

struct Lane {
  std::uint64_t pid = 0, tid = 0;

  bool operator==(const Lane&) const = default;
  bool operator<(const Lane& other) const { return std::pair(pid, tid) < std::pair(other.pid, other.tid); }
};

// The events of a loader's batches in the training process. Each kind has a lane of its own, since these
// slices may overlap the training loop's spans and each other.
enum class Outcome : std::uint8_t { waited, early, consumed };

class Lanes {
 public:
  struct Name {
    Lane lane;  // tid 0: the process
    std::string text;
    std::uint64_t order = 0;  // among the processes; of a thread: among those of its process
  };

  // The lane of a thread. Its name follows from the kinds of its spans.
  Lane of(const Stream& stream, Kind kind);
  Lane of(const Process& process, std::uint32_t stream);
  Lane of(const BatchKey& key, Outcome outcome);

  // The number of a process: its pid, unless an earlier process of the trace has that pid, too.
  std::uint64_t pid_of(const Process& process);
  // Whether the numbers are those of a process of the trace.
  bool knows(std::uint64_t pid) const { return taken_.contains(pid); }

  // All lanes used so far.
  std::vector<Name> processes() const;
  std::vector<Name> threads() const;
  // Of a lane that was used.
  Name process(std::uint64_t pid) const;
  Name thread(Lane lane) const;

 private:
  struct Thread {
    Lane lane;
    std::string name;
    int order = 0;
  };
  using Key = std::pair<const Process*, std::uint64_t>;  // the number of a stream, or of an outcome

  Thread& thread(const Process& process, std::uint32_t stream);

  std::map<const Process*, std::uint64_t> pids_;
  std::unordered_map<std::uint64_t, const Process*> taken_;  // pid → process
  std::map<Key, Thread> threads_;
  std::map<Key, Thread> outcomes_;  // by loader and outcome
  std::map<Lane, const Thread*> by_lane_;
};

// "queue depth (loader 2)"; a loader that is not known has no number.
std::string of_loader(const char* what, const Loader* loader);

}  // namespace lotus::analyzer
