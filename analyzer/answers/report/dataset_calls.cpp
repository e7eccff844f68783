#include "answers/report/dataset_calls.hpp"

#include <algorithm>

namespace lotus::analyzer {

void DatasetCallsCollector::on_point(const Stream& stream, const Record& record, const ClockMap& clock) {
  if (record.kind != Kind::dataset_call) return;
  constexpr std::size_t kMostNames = 256;  // more is damage
  const std::string_view name = field<Kind::dataset_call, "name">(record);
  Calls& calls = threads_[&stream].since;
  auto slot = calls.find(name);
  if (slot == calls.end()) {
    if (calls.size() == kMostNames) return;
    slot = calls.try_emplace(std::string(name)).first;
  }
  ++slot->second.calls;
  slot->second.total += static_cast<double>(clock.duration_ns(field<Kind::dataset_call, "ticks">(record)));
}

// What is called between two epochs, or between two loops, belongs to no step.
void DatasetCallsCollector::on_next(const Span& next) {
  const IterationKey loop = iteration_of(next);
  ThreadCalls& thread = threads_[&next.stream];
  if (thread.stepping && thread.loop == loop)
    for (const auto& [name, sums] : thread.since) {
      Sums& all = in_steps_[name];
      all.calls += sums.calls;
      all.total += sums.total;
    }
  thread.since.clear();
  thread.loop = loop;
  thread.stepping = next.ended == Ended::returned;
}

std::vector<DatasetCall> DatasetCallsCollector::take() {
  std::vector<DatasetCall> calls;
  for (const auto& [name, sums] : in_steps_) calls.push_back({name, sums.calls, sums.total});
  in_steps_.clear();
  std::stable_sort(calls.begin(), calls.end(),
                   [](const DatasetCall& a, const DatasetCall& b) { return a.total > b.total; });
  return calls;
}

}  // namespace lotus::analyzer
