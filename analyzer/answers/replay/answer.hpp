// The answer of `whatif`: the recorded run, its replay, and the replay of the question.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "answers/replay/replay.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

struct Answer {
  const Replay& replay;
  Question question;
  Prediction prediction;
  std::vector<std::string> notes;  // assumptions of the answer
};

Answer answer_of(const Replay& replay, const Question& question);

std::string answer_text(const Answer& answer, const Terminal& terminal);
// Keys are documented in lotus-analyze(1).
nlohmann::ordered_json answer_json(const Answer& answer);

}  // namespace lotus::analyzer
