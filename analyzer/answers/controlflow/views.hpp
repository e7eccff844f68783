// What `control-flow` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "answers/controlflow/answer.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer::controlflow {

// `rows`: of each table, at most.
std::string control_flow_text(const std::vector<RegionAnswer>& answers, std::size_t rows,
                              const Terminal& terminal);

// Keys: lotus-json(5).
nlohmann::ordered_json control_flow_json(const std::vector<RegionAnswer>& answers);

// What control flow takes as the paper measures it: `with`, and the same work without.
struct Measured {
  const RegionAnswer& with;
  const RegionAnswer& without;

  double overhead() const { return 1 - without.parts.untraced() / with.parts.untraced(); }
};
std::string measured_text(const Measured& measured, const Terminal& terminal);
nlohmann::ordered_json measured_json(const Measured& measured);

// What to do about a region, most important first; whole sentences.
std::vector<std::string> control_flow_findings(const RegionAnswer& answer);

// What it says first of a region: sentences.
std::string headline(const RegionAnswer& answer);

}  // namespace lotus::analyzer::controlflow
