// Notices when a whole program stood still: suspended by a signal, a scheduler or a hypervisor.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "answers/report/findings.hpp"
#include "reading/model/span.hpp"

namespace lotus::analyzer {

// A program is taken to have stood still where no thread recorded anything and no stack sample was taken (so
// that none used CPU time), for at least kLeast, while two of its processes were in the middle of a fetch or
// a training step that took at least kUnusual times as long as is usual there, one of them a step or a fetch
// that usually computes. One process alone may have slept, and all may have waited for the same files. Nor
// are witnesses needed where the collector saw a process that trains stopped, or stood still itself.
class Activity {
 public:
  static constexpr double kLeast = 1e9;  // ns; shorter ones are lost in the noise of a busy machine
  static constexpr double kUnusual = 10;

  void note(std::int64_t at) {
    const std::int64_t beat = at / kBeat;
    if (beat != last_ && beats_.size() < kMostBeats) beats_.insert(last_ = beat);
  }
  // A training step, or else a fetch; realtime. busy: how much of it, ns, it
  // computed or waited for a core; of a step it does not matter.
  void note_work(const Process& process, bool step, double busy, std::int64_t from, std::int64_t to);
  // The collector saw that a process that trains was stopped, at least so long; realtime.
  void note_stop(std::int64_t from, std::int64_t to) { stops_.push_back({from, to}); }
  // Of all that was noted.
  std::vector<Standstill> standstills() const;
  void clear();

 private:
  static constexpr std::int64_t kBeat = 100'000'000;  // ns
  static constexpr std::size_t kMostBeats = 1 << 21;  // two days; of longer runs nothing is told
  struct Work {
    const Process* process;
    bool step;
    std::int64_t from, to;
  };
  struct Usual {
    double sum = 0, busy = 0;
    std::uint64_t count = 0;
  };

  struct Stopped {
    std::int64_t from, to;
  };

  bool witnessed(std::int64_t from, std::int64_t to) const;

  std::int64_t last_ = -1;  // beat
  std::unordered_set<std::int64_t> beats_;
  std::vector<Stopped> stops_;
  std::vector<Work> long_;                                  // of at least kLeast
  std::map<std::pair<const Process*, bool>, Usual> usual_;  // of the shorter ones
};

}  // namespace lotus::analyzer
