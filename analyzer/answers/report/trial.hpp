// What LOTUS_TRY changed in a run, and what came of it, beside a former run without it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "answers/replay/replay.hpp"

namespace lotus::analyzer {

// A loader's performance in a former run, what its replay predicts for the settings that were tried, and what
// came.
struct TrialOutcome {
  std::string file;  // of the former run
  std::string unit;  // Recording::unit
  Achieved before, came;
  bool taken_elsewhere =
      false;  // by another thread than training's, in one of the runs: nothing can be told of it
  std::optional<Prediction> predicted{};
  std::string why_not{};  // there is no prediction: the reason

  bool as_predicted() const;
};

// The question that `settings`, a text as LOTUS_TRY has it, asks a replay; none if it tries what a replay
// does not know: threads.
std::optional<Question> question_of(const std::string& settings);
// The other way round: what LOTUS_TRY makes of `now` the settings `then`; empty if nothing of it differs.
std::string settings_to_try(const Recording& recording, const Settings& then);

// Compares the loader that training waited for longest in the former run with the same loader of this one.
// None: one of the runs got no batch from it.
std::optional<TrialOutcome> outcome_of(const std::string& settings, const std::vector<Recording>& former,
                                       const std::vector<Recording>& tried);

}  // namespace lotus::analyzer
