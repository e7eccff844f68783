// The verdict: whether training is input-bound, by how much, why, and what would help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/causes/diagnosis.hpp"
#include "answers/report/findings.hpp"

namespace lotus::analyzer {

enum class Bound { input, compute, balanced, unknown };

struct Verdict {
  Bound bound = Bound::unknown;
  std::optional<double> waited_percent;  // of the time between the first and the last __next__ of all epochs
  // Of the loader that was waited for most, where its settings are known.
  std::optional<std::uint64_t> workers;
  // The number of workers that the diagnosis advises, if it does. Without a replay: the number that keeps
  // up with training, by mean times.
  std::optional<std::uint64_t> workers_needed;
  std::vector<std::string> parts;  // what training did, why, and what else there is to say
  std::string message;             // the parts as one sentence
  Diagnosis diagnosis;             // of that loader
};

Verdict verdict_of(const Findings& findings);
const char* name_of(Bound bound);

}  // namespace lotus::analyzer
