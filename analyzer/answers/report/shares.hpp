// The shares of a whole run that the report prints in its text and in its JSON, one row each.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "answers/report/findings.hpp"

namespace lotus::analyzer {

struct Share {
  std::string_view part;  // object in the JSON; empty: its top level
  std::string_view key;   // key in that object
  const char* words;      // behind the number, in the text
  // Percent; none: not known.
  std::optional<double> (*percent)(const Findings&);
  double told_from = 0;  // percent from which on the text has a line for it
};

// In the order of the text.
std::span<const Share> shares();

}  // namespace lotus::analyzer
