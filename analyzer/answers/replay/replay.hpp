// A calibrated recording, ready to answer questions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "answers/replay/plan.hpp"
#include "answers/replay/simulate.hpp"

namespace lotus::analyzer {

// A range that holds the value with a probability of 90 %, given the model and the recorded batches.
struct Range {
  double low = 0, high = 0;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen(double down, double up) {
    low *= down;
    high *= up;
  }
};

struct Prediction {
  Settings settings;
  Achieved achieved;
  double epoch_ns = 0;  // mean time of an epoch
  double first = 0;     // from the call of __iter__ to the first batch, of all epochs
  Range images_per_s, waited_percent, epoch_range;
};

// Means of the recorded fetches and steps that are replayed, and of the part that did not compute. `settled`:
// of the fetches that began when all workers had begun; starting workers take cores, too. 0: there are none.
struct RecordedMeans {
  double fetch = 0, fetch_cpu = 0, fetch_idle = 0, lock_wait = 0, settled = 0, step = 0, step_idle = 0;
  // Sums; told: of the fetches that tell how long they waited for a core.
  double all = 0, core_wait = 0, told = 0, told_rest = 0;

  bool mostly_told() const { return told >= 0.5 * all; }
  // The share of making batches that is known to be waiting for a core.
  double crowded() const { return told > 0 ? std::min(1.0, core_wait / told) : 0; }
};

class Replay {
 public:
  // Replicas of the bootstrap.
  static constexpr std::size_t kReplicas = 40;

  // Calibrates. `recording` outlives it and has at least kFewestToReplay batches.
  explicit Replay(const Recording& recording);

  const Recording& recording() const { return recording_; }
  const Calibration& calibration() const { return calibration_; }
  // The recorded run, replayed.
  const ReplayOutcome& replayed() const { return replayed_; }
  // The error of the replay of the recorded run: percent of the recorded rate, points of the share waited.
  double rate_error_percent() const;
  double waited_error() const;

  // One replay, without ranges.
  Prediction ask(const Question& question) const;
  // With ranges.
  Prediction predict(const Question& question) const;

 private:
  void calibrate();
  void calibrate_cores();
  void calibrate_lock();
  double wanted(const Settings& settings) const;
  std::vector<Doubt> doubts(const Question& question, const Settings& then) const;
  Prediction prediction_of(const Plan& plan, const ReplayOutcome& outcome) const;

  const Recording& recording_;
  RecordedMeans recorded_;
  Calibration calibration_;
  ReplayOutcome replayed_;
};

}  // namespace lotus::analyzer
