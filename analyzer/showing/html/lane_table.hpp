// The lanes of the page's run over time: one for each training process and each worker of each loader.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "reading/trace/catalog.hpp"

namespace lotus::analyzer {

using LaneId = std::uint32_t;  // numbers the lanes in the order in which they were met, from 0

// Workers of later epochs share the lane of the earlier ones with the same id.
class LaneTable {
 public:
  // Processes that are passed outlive the table.
  LaneId training(const Process& process);
  // Of a worker; a process that is none has the lane of a training process.
  LaneId worker(const Process& process);

  // [{"training", "run", "pid", "loader", "worker"}], by LaneId; run: numbers the training processes.
  nlohmann::ordered_json json() const;

 private:
  struct Lane {
    const Process* training = nullptr;
    std::uint64_t loader = 0;
    std::int64_t worker = -1;  // the training process itself
    bool operator<(const Lane& other) const {
      return std::tie(training, loader, worker) < std::tie(other.training, other.loader, other.worker);
    }
  };
  LaneId of(const Lane& lane);

  std::vector<Lane> lanes_;
  std::map<Lane, LaneId> ids_;
  std::unordered_map<const Process*, LaneId> workers_;
};

}  // namespace lotus::analyzer
