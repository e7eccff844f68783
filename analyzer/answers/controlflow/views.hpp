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

// "1 call", "1,281 calls": of a noun whose plural ends in s.
inline std::string with_noun(const std::string& count, const char* noun) {
  return count + " " + noun + (count == "1" ? "" : "s");
}

// What a call would gain, compiled, or why that is not known: a sentence.
std::string gain_text(const RegionAnswer& answer);

// What to do about a region, most important first; whole sentences.
std::vector<std::string> control_flow_findings(const RegionAnswer& answer);

// What it says first of a region: sentences.
std::string headline(const RegionAnswer& answer);

}  // namespace lotus::analyzer::controlflow
