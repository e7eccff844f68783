// Why training waits and which changes would help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "answers/causes/case.hpp"
#include "answers/causes/cause.hpp"

namespace lotus::analyzer {

// One change and what it would achieve.
struct Advice {
  // A word: none, workers, op, own_code, storage, slow_worker, in_order, prefetch, persistent, transfer,
  // sampler, train_step.
  std::string action;
  std::string message;                     // printable: the change and its gain
  std::string change;                      // printable: the change in a few words
  std::optional<Prediction> prediction{};  // none: no replay. `none`: of the run as it is
  double gain_percent = 0;                 // in images/s, over the replay of the recorded run
  std::optional<std::uint64_t> workers{};  // `workers`: how many
};

struct Judged {
  Cause cause = Cause::unknown;
  Judgement judgement;
};

// Of the replay of the recorded run.
struct ModelError {
  double rate_percent = 0, waited_points = 0;
};

struct Diagnosis {
  std::vector<Judged> held;         // by what they explain; the first one is the verdict, there always is one
  std::vector<Judged> ruled_out;    // in the order of the table
  std::vector<Advice> advice;       // the first addresses the cause; the others by gain
  std::optional<ModelError> error;  // none: too little was recorded for a replay

  Cause cause() const { return held.front().cause; }
};

Diagnosis diagnosis_of(const Case& c);

}  // namespace lotus::analyzer
