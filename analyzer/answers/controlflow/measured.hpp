// What control flow takes as the paper measures it: with a trace of the same work without.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "answers/controlflow/answer.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer::controlflow {

struct Measured {
  const RegionAnswer& with;
  const RegionAnswer& without;

  // Why the two cannot be compared, with what to do; empty: they can.
  std::string why_not() const;
  // What makes the comparison less certain; whole sentences.
  std::vector<std::string> doubts() const;
  double overhead() const { return 1 - without.parts.untraced() / with.parts.untraced(); }
};

// The region of the same name; the one that takes most time where none has it. `others` is not empty.
const RegionAnswer& twin_of(const RegionAnswer& region, const std::vector<RegionAnswer>& others);

std::string measured_text(const Measured& measured, const Terminal& terminal);
// Keys: lotus-json(5).
nlohmann::ordered_json measured_json(const Measured& measured);

}  // namespace lotus::analyzer::controlflow
