// The processes and threads of a timeline: their numbers, names and order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/span.hpp"
#include "trace/catalog.hpp"

namespace lotus::analyzer {

struct Lane {
  std::uint64_t pid = 0, tid = 0;
};

class Lanes {
 public:
  // The lane of a thread. Its name follows from the kinds of its spans.
  Lane of(const Stream& stream, Kind kind);
  Lane of(const Process& process, std::uint32_t stream);
  // The lane beside the training loop's own that shows what each batch cost it.
  Lane batches_of(const Process& training);

  // Metadata events, JSON objects: names and order of all lanes used.
  std::vector<std::string> metadata() const;

 private:
  struct Thread {
    Lane lane;
    std::string name;
    int order = 0;  // among the threads of its process
  };

  std::uint64_t pid_of(const Process& process);
  Thread& thread(const Process& process, std::uint32_t stream);

  std::map<const Process*, std::uint64_t> pids_;
  std::unordered_map<std::uint64_t, const Process*> taken_;             // pid → process
  std::map<std::pair<const Process*, std::uint32_t>, Thread> threads_;  // by stream
};

}  // namespace lotus::analyzer
