// Why training waits and which changes would help. Each claim comes from replaying the recorded batches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "answers/replay/replay.hpp"

namespace lotus::analyzer {

// Shares of waiting, in the time from the first batch on, that decide whether training is bound by its input
// or by its own work.
inline constexpr double kInputBoundPercent = 15;   // waited this much or more
inline constexpr double kComputeBoundPercent = 5;  // or this little

// `transfer` stays the last one: name_of() counts on it.
enum class Cause { training, balanced, workers, op, storage, slow_worker, startup, uneven, transfer };

// One change and what it would achieve.
struct Advice {
  // A word: none, workers, op, storage, slow_worker, in_order, prefetch, persistent, transfer, train_step.
  std::string action;
  std::string message;  // printable: the change and its gain
  std::string change;   // printable: the change in a few words
  Prediction prediction;
  double gain_percent = 0;                 // in images/s, over the replay of the recorded run
  std::optional<std::uint64_t> workers{};  // `workers`: how many
};

struct Diagnosis {
  Cause cause = Cause::balanced;
  std::vector<Advice> advice;                       // the first addresses the cause; the others by gain
  double rate_error_percent = 0, waited_error = 0;  // of the replay of the recorded run
};

// A change gains something if images/s grow by this much.
inline constexpr double kWorthwhilePercent = 5;

// None: too few batches of the loader were recorded.
std::optional<Diagnosis> diagnosis_of(const Recording& recording);

const char* name_of(Cause cause);

}  // namespace lotus::analyzer
