// Changes that are tried by replaying the recorded batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/replay/replay.hpp"
#include "answers/stats/core_wait.hpp"

namespace lotus::analyzer {

// A change gains something if images/s grow by this much, in percent. If training hardly waits, smaller gains
// are not worth a change.
inline constexpr double kWorthwhilePercent = 5;
inline constexpr double kWorthwhileUnwaitedPercent = 10;

// Shares of waiting, in the time from the first batch on, that decide whether training is bound by its input
// or by its own work, in percent.
inline constexpr double kInputBoundPercent = 15;   // waited this much or more
inline constexpr double kComputeBoundPercent = 5;  // or this little

inline constexpr double kSlowWorker = 1.3;  // fetch time relative to the other workers

// The percent of the time that a rate higher by `gain` percent saves.
inline double saved_by(double gain) { return gain > 0 ? 100 * gain / (100 + gain) : 0; }

struct Trial {
  const char* action;  // see Advice::action
  std::string change;  // printable: "4 workers instead of 2"
  Question question;
  double gain = 0;  // percent of images/s
};

// The share of CPU time from which on a part of the fetches computes, rather than sleeps or waits.
inline constexpr double kComputes = 0.5;

// One part of the fetches: an operation, or kOwnCode.
struct FetchPart {
  std::string name;  // empty: none
  double share = 0;  // of the fetches' time, from 0 to 1
  bool computes = false;
  OpRole role = OpRole::frame;
  std::string library{};     // whose function it is; empty: the program's own
  double library_share = 0;  // of all functions of that library

  // One statement of the program's is often many functions of a library, which is told of instead.
  bool tells_of_library() const { return library_share >= 1.3 * share && !library.empty(); }
};

class Trials {
 public:
  // `recording` outlives it, and can be replayed: see can_replay().
  explicit Trials(const Recording& recording);

  const Replay& replay() const { return replay_; }
  const Recording& recording() const { return recording_; }
  const std::vector<Trial>& all() const { return all_; }
  // The gain of the best trial of an action, in percent; 0: it was not tried.
  double gain(std::string_view action) const;
  const Trial* find(std::string_view action) const;
  // The gain over the faster of the recorded run and its replay: if the replay is too slow, a change that
  // only makes up for that is no gain.
  double gain_of(const Question& question) const;
  // The percent of the run's time that would not have passed if these operations took none.
  double explained_by(const std::string& op) const;
  // A change of this operation, or of all that the trial `op` changes if this is its longest.
  Question change_of(const std::string& op, double factor) const;

  // From this gain on a change is worth to be told.
  double worthwhile() const;
  bool worthwhile(std::string_view action) const { return gain(action) >= worthwhile(); }
  // From the calls of __iter__ until the first batches were made, without making them, in the replay, ns.
  double starting() const;
  // Whether epochs lose more time before their first batch than by waiting for all later ones.
  bool starting_dominates() const;

  const FetchPart& top_op() const { return top_op_; }
  // Runs once in each worker, for each epoch anew.
  const FetchPart& starting_op() const { return starting_op_; }
  const FetchPart& reading() const { return reading_; }  // a Loader that waits for its files
  const FetchPart& own_code() const { return own_code_; }
  // nullopt: no worker is clearly slower than the others.
  std::optional<std::size_t> slow_worker() const;
  // Whether batches are written to the pipe itself.
  bool through_pipe() const { return mean_of(&RecordedBatch::pipe) >= kThroughPipe; }
  // Over all batches, ns.
  double mean_of(double RecordedBatch::*part) const;
  // A quarter of the batches have as much as that, or more.
  double of_a_quarter(double RecordedBatch::*part) const;
  // A sentence's end that says how much fetches compute and wait for a core. `waiting`: the percentage that
  // the report tells.
  std::string about_fetches(double waiting) const;

 private:
  double core_wait_percent() const { return fetches_.core_wait.percent().value_or(0); }

  struct Fetches {  // all of them, ns
    double wall = 0, cpu = 0, sleeping = 0;
    CoreWait core_wait;
    double told_cpu = 0;  // of the fetches in core_wait
  };

  void consider(Trial trial);
  void try_workers();
  void try_fewer_workers();
  void try_lock();
  void try_prefetch();
  void try_order();
  void try_persistent();
  void try_ops();
  void try_own_code();
  void try_rest();
  std::uint64_t most_workers() const;
  double fetch_share(const RecordedOp& op, double part) const;
  double sleeping_share() const;

  const Recording& recording_;
  const Loader& loader_;
  const Replay replay_;
  Fetches fetches_;
  std::vector<Trial> all_;
  FetchPart top_op_, starting_op_, reading_, own_code_;
  std::vector<std::string> changed_ops_;  // by the trial `op`: the longest one, or all of its library
};

// Whether enough of the loader's batches were recorded for a meaningful replay, and training's waits for
// them.
inline bool can_replay(const Recording& recording) {
  return recording.kept() >= kFewestToReplay && recording.seen() && !recording.taken_elsewhere();
}

}  // namespace lotus::analyzer
