// The facts of one run, as the rows of the table of causes see them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "answers/causes/trials.hpp"
#include "answers/report/findings.hpp"

namespace lotus::analyzer {

// The loader that training waited for longest; nullptr: there is none.
const LoaderFinding* worst_loader(const Findings& findings);

class Case {
 public:
  // `findings` outlive it.
  explicit Case(const Findings& findings);

  const Findings& findings() const { return findings_; }
  // All that follows is about the loader that training waited for longest.
  const LoaderFinding* loader() const { return loader_; }
  const Recording* recording() const { return recording_; }
  // None: too little was recorded for a replay.
  const Trials* trials() const { return trials_ ? &*trials_ : nullptr; }

  // How its batches are made is not in the trace: it is another library's.
  bool is_other() const { return loader_ != nullptr && loader_->loader && loader_->loader->is_other(); }
  // Its batches are taken by a thread that trains nothing and hands them on: how training waited is not
  // known.
  bool taken_elsewhere() const { return loader_ != nullptr && loader_->taken_elsewhere(); }
  // Whether there is a loop that asked for batches, and batches that were made.
  bool judgeable() const;
  // Its settings are known.
  bool settings_known() const { return recording_ != nullptr || (loader_ != nullptr && loader_->loader); }
  std::uint64_t workers() const;
  double waited_percent() const;
  bool waits() const { return waited_percent() >= kInputBoundPercent; }
  // Of training, from the call of __iter__ on, ns.
  double training_time() const;

  double mean_fetch() const {
    return loader_ != nullptr && !loader_->fetch.empty() ? loader_->fetch.mean() : 0;
  }
  double mean_step() const {
    return loader_ != nullptr && !loader_->train_step.empty() ? loader_->train_step.mean() : 0;
  }
  // The number that keeps up with training, by mean times; none: too few batches.
  std::optional<std::uint64_t> needed_workers() const;
  // The number that the cores can serve: one per core, or more if workers mostly sleep or wait for storage.
  std::uint64_t servable_workers() const;
  // Percent of the fetches' time in which they could have run and waited for a core. 0: not known.
  double core_wait_percent() const { return findings_.core_wait.percent().value_or(0); }
  // How many threads that make batches want a core at once, on average: those that run and those that wait
  // for one. None: not known.
  std::optional<double> wanted_cores() const;
  // The share of all cores that the program itself used, by its stack samples; none: not known.
  std::optional<double> used_share() const;

 private:
  const Findings& findings_;
  const LoaderFinding* loader_ = nullptr;
  const Recording* recording_ = nullptr;
  std::optional<Trials> trials_;
};

}  // namespace lotus::analyzer
