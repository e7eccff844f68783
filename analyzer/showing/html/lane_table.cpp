#include "showing/html/lane_table.hpp"

#include <nlohmann/json.hpp>

namespace lotus::analyzer {

LaneId LaneTable::of(const Lane& lane) {
  const auto [slot, fresh] = ids_.try_emplace(lane, static_cast<LaneId>(lanes_.size()));
  if (fresh) lanes_.push_back(lane);
  return slot->second;
}

LaneId LaneTable::training(const Process& process) { return of({&process, 0, -1}); }

LaneId LaneTable::worker(const Process& process) {
  const auto known = workers_.find(&process);
  if (known != workers_.end()) return known->second;
  Lane lane{&process, 0, -1};
  if (process.worker_of) {
    const WorkerOf& work = *process.worker_of;
    lane = {work.training, work.training->loader_id_of(work.iterator),
            static_cast<std::int64_t>(work.worker)};
  }
  return workers_[&process] = of(lane);
}

nlohmann::ordered_json LaneTable::json() const {
  auto list = nlohmann::ordered_json::array();
  std::unordered_map<const Process*, std::size_t> runs;  // numbers the training processes
  for (const Lane& lane : lanes_)
    list.push_back({{"training", lane.worker < 0},
                    {"run", runs.try_emplace(lane.training, runs.size()).first->second},
                    {"pid", lane.training->pid},
                    {"loader", lane.loader},
                    {"worker", lane.worker}});
  return list;
}

}  // namespace lotus::analyzer
