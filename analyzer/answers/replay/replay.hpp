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
  Calibration calibration_;
  ReplayOutcome replayed_;
};

}  // namespace lotus::analyzer
