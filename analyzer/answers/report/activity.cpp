#include "answers/report/activity.hpp"

#include <algorithm>
#include <set>

namespace lotus::analyzer {
namespace {

constexpr double kComputing = 0.7;  // of a fetch's time: it waits for little else than cores

}  // namespace

void Activity::note_work(const Process& process, bool step, double busy, std::int64_t from, std::int64_t to) {
  constexpr std::size_t kMost = 1 << 16;
  const double took = static_cast<double>(to) - static_cast<double>(from);
  if (took >= kLeast) {
    if (long_.size() < kMost) long_.push_back({&process, step, from, to});
    return;
  }
  Usual& usual = usual_[{&process, step}];
  usual.sum += took;
  usual.busy += busy;
  ++usual.count;
}

bool Activity::witnessed(std::int64_t from, std::int64_t to) const {
  for (const Stopped& stop : stops_)
    if (stop.from < to && stop.to >= from) return true;
  std::set<const Process*> witnesses;
  bool computes = false;
  for (const Work& work : long_) {
    // What goes on until the others do, too, was part of it.
    if (work.from > from || work.to < to) continue;
    const auto usual = usual_.find({work.process, work.step});
    if (usual == usual_.end()) continue;
    const Usual& sums = usual->second;
    const double mean = sums.sum / static_cast<double>(sums.count);
    if (static_cast<double>(work.to) - static_cast<double>(work.from) < kUnusual * mean) continue;
    witnesses.insert(work.process);
    computes = computes || work.step || sums.busy >= kComputing * sums.sum;
  }
  return witnesses.size() >= 2 && computes;
}

std::vector<Standstill> Activity::standstills() const {
  if (beats_.size() >= kMostBeats) return {};
  std::vector<std::int64_t> beats(beats_.begin(), beats_.end());
  std::sort(beats.begin(), beats.end());
  std::vector<Standstill> found;
  for (std::size_t i = 1; i < beats.size(); ++i) {
    if (beats[i] - beats[i - 1] - 1 < static_cast<std::int64_t>(kLeast) / kBeat) continue;
    const std::int64_t from = (beats[i - 1] + 1) * kBeat;
    const std::int64_t to = beats[i] * kBeat;
    if (!witnessed(from, to)) continue;
    found.push_back({from, static_cast<double>(to - from)});
  }
  return found;
}

void Activity::clear() {
  last_ = -1;
  beats_.clear();
  stops_.clear();
  long_.clear();
  usual_.clear();
}

}  // namespace lotus::analyzer
