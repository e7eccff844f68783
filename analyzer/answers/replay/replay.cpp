#include "answers/replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace lotus::analyzer {
namespace {

constexpr int kMostRounds = 12;
constexpr double kMostCrowding = 16;
constexpr double kCloseEnough = 0.002;
constexpr double kLeastCrowded = 0.1;  // of a fetch: waiting for a core
constexpr int kOverheadRounds = 5;
constexpr double kLeastLockWait =
    0.05;  // of a fetch: waiting for a lock that is shorter than this is left out
// Two runs of the same program differ by this much, which no replay of one of them can show: more where they
// compute than where they sleep. Measured by bench/causes/accuracy.
constexpr double kBetweenRuns = 0.07;
constexpr double kBetweenComputing = 0.1;  // beside it, where fetches compute all the time
constexpr double kBetweenStarting = 0.15;  // beside it, where all of the time is the start of workers
// Where more threads than cores compute, they slow each other down, by caches, page tables and switches: by a
// quarter where a few share a core, by more than half where ten do (bench/causes/accuracy, photographs).
constexpr double kCrowdedCores = 1.2;  // threads for each core from which on that is seen
double most_crowded_cost(double threads) { return std::clamp(1 + 0.1 * threads, 1.25, 1.6); }
constexpr double kAssumedFactor = 3;  // what was not recorded may take this many times as long, or as short

RecordedMeans means_of(const Plan& plan, const Recording& recording, double sleeping) {
  RecordedMeans means;
  double batches = 0;
  double steps = 0;
  double settled = 0;
  for (std::size_t i = 0; i < plan.epochs.size(); ++i) {
    const auto& recorded = recording.epochs[i];
    const std::size_t count = plan.epochs[i].steps.size();
    for (std::size_t k = 0; k < std::min(count, recorded.batches.size()); ++k) {
      const RecordedBatch& batch = recorded.batches[k];
      means.fetch += batch.fetch;
      means.fetch_cpu += batch.fetch_cpu;
      means.fetch_idle += batch.rest() * batch.sleeping_share(sleeping);
      means.lock_wait += batch.lock_wait;
      means.all += batch.fetch;
      means.core_wait += batch.core_wait.value_or(0);
      means.told += batch.core_wait ? batch.fetch : 0;
      means.told_rest += batch.core_wait ? batch.rest() : 0;
      ++batches;
      means.settled += batch.settled ? batch.fetch : 0;
      settled += batch.settled ? 1 : 0;
    }
    for (std::size_t k = 0; k < count; ++k) {
      const double threads = plan.epochs[i].steps[k].threads;
      means.step += recorded.steps[k].wall;
      means.step_idle += std::max(0.0, recorded.steps[k].wall - recorded.steps[k].cpu / threads);
      ++steps;
    }
  }
  means.fetch /= std::max(1.0, batches);
  means.fetch_cpu /= std::max(1.0, batches);
  means.fetch_idle /= std::max(1.0, batches);
  means.lock_wait /= std::max(1.0, batches);
  means.settled /= std::max(1.0, settled);
  means.step /= std::max(1.0, steps);
  means.step_idle /= std::max(1.0, steps);
  return means;
}

// One step of the calibration of a share: moves it so that the replayed length approaches the recorded one.
bool adjusted(double& share, double recorded, double replayed, double idle) {
  if (idle <= 0 || std::abs(recorded - replayed) <= kCloseEnough * recorded) return false;
  const double before = share;
  share = std::clamp(share + 0.8 * (recorded - replayed) / idle, 0.0, 1.0);
  return share != before;
}

// One step of the calibration of `crowding`: moves it so that replayed fetches approach the recorded length.
bool crowded(double& crowding, double recorded, double replayed, double cpu) {
  if (cpu <= 0 || std::abs(recorded - replayed) <= kCloseEnough * recorded) return false;
  const double before = crowding;
  crowding = std::clamp(crowding + 0.8 * (recorded - replayed) / cpu, 1.0, kMostCrowding);
  return crowding != before;
}

// Resampled positions, drawn with replacement in blocks of neighbours (block bootstrap).
std::vector<std::uint32_t> resampled(std::size_t size, std::size_t count, std::mt19937_64& random) {
  const auto block = std::max<std::size_t>(1, static_cast<std::size_t>(std::cbrt(static_cast<double>(size))));
  std::vector<std::uint32_t> positions;
  while (positions.size() < count) {
    const std::size_t from = random() % size;
    for (std::size_t i = 0; i < block && positions.size() < count; ++i)
      positions.push_back(static_cast<std::uint32_t>((from + i) % size));
  }
  return positions;
}

std::vector<Order> orders_of(const Plan& plan, std::uint64_t replica) {
  std::mt19937_64 random(replica + 1);
  std::vector<Order> orders;
  for (const auto& epoch : plan.epochs) {
    const std::size_t count = epoch.steps.size();
    orders.push_back({resampled(epoch.batches.size(), count, random), resampled(count, count, random)});
  }
  return orders;
}

// The middle 90 %, and the centre.
Range middle_of(std::vector<double> values, double centre) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) {
    return values[static_cast<std::size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
  };
  return {std::min(centre, at(0.05)), std::max(centre, at(0.95))};
}

}  // namespace

Replay::Replay(const Recording& recording) : recording_(recording) { calibrate(); }

// Where fetches waited for a core, their workers did so between them in the same share. Handing over indices
// and batches did, too, by up to that share: by the one with which the recorded run is replayed at its rate.
void Replay::calibrate() {
  const Plan as_recorded = plan_of(recording_, {}, calibration_);
  recorded_ = means_of(as_recorded, recording_, 1);
  if (recorded_.told_rest > 0)
    calibration_.sleeping = 1 - std::min(1.0, recorded_.core_wait / recorded_.told_rest);
  recorded_ = means_of(as_recorded, recording_, calibration_.sleeping);
  calibration_.pauses = 1 - recorded_.crowded();
  if (recording_.loader.workers > 1) calibrate_lock();
  calibrate_cores();
  if (rate_error_percent() >= 0 || recorded_.crowded() < kLeastCrowded) return;
  Calibration best = calibration_;
  double error = -rate_error_percent();
  double low = 1 - recorded_.crowded();
  double high = 1;
  for (int round = 0; round < kOverheadRounds; ++round) {
    calibration_.overheads = (low + high) / 2;
    calibrate_cores();
    (rate_error_percent() < 0 ? high : low) = calibration_.overheads;
    if (std::abs(rate_error_percent()) >= error) continue;
    error = std::abs(rate_error_percent());
    best = calibration_;
  }
  calibration_ = best;
  replayed_ = simulate(plan_of(recording_, {}, calibration_));
}

// Sleeping and waiting for a core look alike in a trace that does not say how long a fetch waited for one.
// The replay separates them: replayed fetches and steps must take as long as recorded. If recorded fetches
// waited for a core longer than replayed ones, other programs used the cores as well.
void Replay::calibrate_cores() {
  calibration_.fetch_idle = calibration_.step_idle = calibration_.crowding = 1;
  for (int round = 0; round < kMostRounds; ++round) {
    replayed_ = simulate(plan_of(recording_, {}, calibration_));
    const bool outside = recording_.core_wait_known && calibration_.fetch_idle == 1;
    const bool settled = recorded_.settled > 0 && replayed_.settled > 0;
    const bool fetch =
        (outside && settled &&
         crowded(calibration_.crowding, recorded_.settled, replayed_.settled, recorded_.fetch_cpu)) ||
        adjusted(calibration_.fetch_idle, recorded_.fetch, replayed_.fetch, recorded_.fetch_idle);
    const bool step = adjusted(calibration_.step_idle, recorded_.step, replayed_.step, recorded_.step_idle);
    if (!fetch && !step) return;
  }
  replayed_ = simulate(plan_of(recording_, {}, calibration_));
}

// How much of a fetch has the lock is what makes replayed fetches wait for it as long as recorded ones did.
void Replay::calibrate_lock() {
  if (recorded_.lock_wait < kLeastLockWait * recorded_.fetch) {
    if (!taking_turns(recording_)) return;
    calibration_.held = 1;
    calibration_.lock_wait = 1 - 1 / static_cast<double>(recording_.loader.workers);
    return;
  }
  double low = 0;
  double high = 1;
  for (int round = 0; round < kMostRounds; ++round) {
    calibration_.held = (low + high) / 2;
    const double waits = simulate(plan_of(recording_, {}, calibration_)).lock_wait;
    (waits < recorded_.lock_wait ? low : high) = calibration_.held;
  }
}

double Replay::rate_error_percent() const {
  const double recorded = recording_.achieved.images_per_s();
  return recorded > 0 ? 100 * (replayed_.achieved.images_per_s() / recorded - 1) : 0;
}

double Replay::waited_error() const {
  return replayed_.achieved.waited_percent() - recording_.achieved.waited_percent();
}

Prediction Replay::prediction_of(const Plan& plan, const ReplayOutcome& outcome) const {
  Prediction prediction;
  prediction.settings = plan.settings;
  prediction.achieved = outcome.achieved;
  prediction.first = outcome.first;
  prediction.epoch_ns =
      outcome.achieved.time / static_cast<double>(std::max<std::uint64_t>(1, recording_.all_epochs));
  return prediction;
}

Prediction Replay::ask(const Question& question) const {
  const Plan plan = plan_of(recording_, question, calibration_);
  return prediction_of(plan, simulate(plan));
}

// How many threads want a core, for each core, on average, if no worker has to wait for training.
double Replay::wanted(const Settings& settings) const {
  const double idle = recorded_.fetch_idle * calibration_.fetch_idle;
  const double computing = recorded_.fetch_cpu > 0 ? recorded_.fetch_cpu / (recorded_.fetch_cpu + idle) : 0;
  return computing * static_cast<double>(settings.workers) / settings.cores;
}

std::vector<Doubt> Replay::doubts(const Question& question, const Settings& then) const {
  const Settings now = settings_of(recording_, {});
  const bool fewer = then.workers < now.workers;
  const bool more = then.workers > now.workers;
  std::vector<Doubt> doubts;
  if (fewer && wanted(now) > kCrowdedCores)
    doubts.push_back({.computing = 1 / most_crowded_cost(wanted(now))});
  if (more && wanted(then) > kCrowdedCores) doubts.push_back({.computing = most_crowded_cost(wanted(then))});
  // More workers than cores, where most fetches do not tell how long they waited for one: it may be all of
  // their time.
  const double each = static_cast<double>(now.workers) / now.cores;
  if (fewer && each > 1 && !recorded_.mostly_told())
    doubts.push_back({.computing = 1 / most_crowded_cost(each), .idle = 0});
  if (fewer && calibration_.lock_wait > 0) doubts.push_back({.independent = true});
  if (question.shared_memory) doubts.push_back({.pickling = 0});  // of tensors, only handles are pickled
  if (then.workers > 0 && !recording_.transfer_known) {
    doubts.push_back({.assumed = 1 / kAssumedFactor});
    doubts.push_back({.computing = most_crowded_cost(wanted(then)), .assumed = kAssumedFactor});
  }
  return doubts;
}

Prediction Replay::predict(const Question& question) const {
  const Plan plan = plan_of(recording_, question, calibration_);
  Prediction prediction = prediction_of(plan, simulate(plan));
  std::vector<double> rates;
  std::vector<double> shares;
  std::vector<double> times;
  for (std::uint64_t replica = 0; replica < kReplicas; ++replica) {
    const ReplayOutcome one = simulate(plan, orders_of(plan, replica));
    rates.push_back(one.achieved.images_per_s());
    shares.push_back(one.achieved.waited_percent());
    times.push_back(prediction_of(plan, one).epoch_ns);
  }
  const double computing = recorded_.fetch > 0 ? recorded_.fetch_cpu / recorded_.fetch : 0;
  const double starting =
      prediction.achieved.time > 0 ? std::min(1.0, prediction.first / prediction.achieved.time) : 0;
  const double between = kBetweenRuns + kBetweenComputing * computing + kBetweenStarting * starting;
  const double off = std::max(between, std::abs(rate_error_percent()) / 100);
  prediction.images_per_s = middle_of(std::move(rates), prediction.achieved.images_per_s());
  prediction.waited_percent = middle_of(std::move(shares), prediction.achieved.waited_percent());
  prediction.epoch_range = middle_of(std::move(times), prediction.epoch_ns);
  for (const Doubt& doubt : doubts(question, plan.settings)) {
    const Plan other = plan_of(recording_, question, calibration_, doubt);
    const Prediction one = prediction_of(other, simulate(other));
    prediction.images_per_s.add(one.achieved.images_per_s());
    prediction.waited_percent.add(one.achieved.waited_percent());
    prediction.epoch_range.add(one.epoch_ns);
  }
  prediction.images_per_s.widen(1 - off, 1 + off);
  prediction.epoch_range.widen(1 - off, 1 + off);
  Range& waited = prediction.waited_percent;
  waited.low = std::max(0.0, waited.low - std::abs(waited_error()));
  waited.high = std::min(100.0, waited.high + std::abs(waited_error()));
  return prediction;
}

}  // namespace lotus::analyzer
