// The shares that the report tells of a whole run, a row each: in its text and in its JSON.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "answers/report/findings.hpp"

namespace lotus::analyzer {

struct Share {
  std::string_view part;  // of the JSON; empty: its top level
  std::string_view key;   // there
  const char* words;      // behind the number, in the text
  // Percent; none: not known.
  std::optional<double> (*percent)(const Findings&);
  double told_from = 0;  // percent from which on it is worth a line of the text
};

// In the order of the text.
std::span<const Share> shares();

}  // namespace lotus::analyzer
