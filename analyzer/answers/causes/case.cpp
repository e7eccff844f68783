#include "answers/causes/case.hpp"

#include <algorithm>
#include <cmath>

namespace lotus::analyzer {

const LoaderFinding* worst_loader(const Findings& findings) {
  const auto less = [](const LoaderFinding& a, const LoaderFinding& b) { return a.next < b.next; };
  const auto worst = std::max_element(findings.loaders.begin(), findings.loaders.end(), less);
  return worst == findings.loaders.end() ? nullptr : &*worst;
}

Case::Case(const Findings& findings) : findings_(findings), loader_(worst_loader(findings)) {
  if (findings.recordings.empty()) return;
  recording_ = &findings.recordings.front();
  if (can_replay(*recording_)) trials_.emplace(*recording_);
}

// Imported logs may have batches and no waits.
bool Case::judgeable() const {
  return loader_ != nullptr && !taken_elsewhere() && findings_.loop > 0 &&
         (!findings_.fetch.empty() || is_other()) && findings_.waits_known();
}

std::uint64_t Case::workers() const {
  if (recording_ != nullptr) return recording_->loader.workers;
  return loader_ != nullptr && loader_->loader ? loader_->loader->workers : 0;
}

double Case::waited_percent() const {
  if (trials_) return recording_->achieved.waited_percent();
  return loader_ == nullptr ? 0 : loader_->waited_percent().value_or(0);
}

double Case::training_time() const {
  if (recording_ != nullptr) return recording_->achieved.time;
  return loader_ == nullptr ? 0 : loader_->loop;
}

std::optional<std::uint64_t> Case::needed_workers() const {
  if (mean_fetch() <= 0 || mean_step() <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(std::clamp(std::ceil(mean_fetch() / mean_step()), 1.0, 1e6));
}

std::optional<double> Case::wanted_cores() const {
  const auto computing = findings_.fetch_cpu_share();
  if (!computing || findings_.core_wait.wall <= 0 || findings_.loop <= 0) return std::nullopt;
  const double at_once = findings_.fetch_time / findings_.loop;
  return at_once * std::min(1.0, *computing + core_wait_percent() / 100);
}

std::optional<double> Case::used_share() const {
  const double cores = static_cast<double>(findings_.cores);
  if (findings_.sampled.all <= 0 || findings_.duration <= 0 || cores <= 0) return std::nullopt;
  return findings_.sampled.all / (findings_.duration * cores);
}

// Only below kIdleShare of computing is it certain that the rest is not waiting for a core.
std::uint64_t Case::servable_workers() const {
  constexpr double kIdleShare = 0.25;
  if (findings_.cores == 0) return UINT64_MAX;
  const double computing = findings_.fetch_cpu_share().value_or(1);
  if (computing >= kIdleShare) return findings_.cores;
  return static_cast<std::uint64_t>(static_cast<double>(findings_.cores) / std::max(computing, 0.01));
}

}  // namespace lotus::analyzer
