#include "answers/replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace lotus::analyzer {
namespace {

constexpr int kMostRounds = 12;
constexpr double kMostCrowding = 16;
constexpr double kCloseEnough = 0.002;

// Means of the recorded fetches and steps that are replayed, and of the part that did not compute.
struct Means {
  double fetch = 0, fetch_cpu = 0, fetch_idle = 0, step = 0, step_idle = 0;
};

Means means_of(const Plan& plan, const Recording& recording) {
  Means means;
  double batches = 0;
  double steps = 0;
  for (std::size_t i = 0; i < plan.epochs.size(); ++i) {
    const auto& recorded = recording.epochs[i];
    const std::size_t count = plan.epochs[i].steps.size();
    for (std::size_t k = 0; k < std::min(count, recorded.batches.size()); ++k) {
      const RecordedBatch& batch = recorded.batches[k];
      means.fetch += batch.fetch;
      means.fetch_cpu += batch.fetch_cpu;
      means.fetch_idle += (batch.fetch - batch.fetch_cpu) * batch.sleeping_share();
      ++batches;
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

// The middle 90 %, widened by the known error of the model.
Range range_of(std::vector<double> values, double centre, double off) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) {
    return values[static_cast<std::size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
  };
  return {std::min(centre, at(0.05)) - off, std::max(centre, at(0.95)) + off};
}

}  // namespace

Replay::Replay(const Recording& recording) : recording_(recording) { calibrate(); }

// Sleeping and waiting for a core look alike in a trace that does not say how long a fetch waited for one.
// The replay separates them: replayed fetches and steps must take as long as recorded. If recorded fetches
// waited for a core longer than replayed ones, other programs used the cores as well.
void Replay::calibrate() {
  const Question as_recorded;
  for (int round = 0; round < kMostRounds; ++round) {
    const Plan plan = plan_of(recording_, as_recorded, calibration_);
    replayed_ = simulate(plan);
    const Means means = means_of(plan, recording_);
    const bool outside = recording_.core_wait_known && calibration_.fetch_idle == 1;
    const bool fetch =
        (outside && crowded(calibration_.crowding, means.fetch, replayed_.fetch, means.fetch_cpu)) ||
        adjusted(calibration_.fetch_idle, means.fetch, replayed_.fetch, means.fetch_idle);
    const bool step = adjusted(calibration_.step_idle, means.step, replayed_.step, means.step_idle);
    if (!fetch && !step) return;
  }
  replayed_ = simulate(plan_of(recording_, as_recorded, calibration_));
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
  const double off = std::abs(rate_error_percent()) / 100;
  const double rate = prediction.achieved.images_per_s();
  prediction.images_per_s = range_of(std::move(rates), rate, off * rate);
  const double share = prediction.achieved.waited_percent();
  prediction.waited_percent = range_of(std::move(shares), share, std::abs(waited_error()));
  prediction.waited_percent.low = std::max(0.0, prediction.waited_percent.low);
  prediction.waited_percent.high = std::min(100.0, prediction.waited_percent.high);
  prediction.epoch_range = range_of(std::move(times), prediction.epoch_ns, off * prediction.epoch_ns);
  return prediction;
}

}  // namespace lotus::analyzer
