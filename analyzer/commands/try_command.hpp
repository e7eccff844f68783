// The command line that tries other settings of a traced program.
#pragma once

#include <string>

#include "answers/replay/answer.hpp"
#include "answers/report/findings.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// The question that `--try` asks of a recording of the findings: what was asked for on the command line, else
// the setting, or settings of one advice of the report, that gain most. Throws WrongUsage if the question
// changes what no setting can.
Question question_to_try(const Findings& findings, const Recording& recording, const Question& asked);

struct TryCommand {
  std::string settings;  // empty: nothing to try
  std::string line;      // for a shell
  std::string about;     // what is predicted
};
TryCommand try_command(const Trace& trace, const Answer& answer);

}  // namespace lotus::analyzer
