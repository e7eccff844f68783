// The forms of what `memory` says.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "answers/memory/answer.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer::memory {

// `rows`: of each table, at most.
std::string memory_text(const std::vector<RecordedStep>& steps, const MemoryAnswer& answer, std::size_t rows,
                        const Terminal& terminal);

// Keys: lotus-json(5).
nlohmann::ordered_json memory_json(const std::vector<RecordedStep>& steps, const MemoryAnswer& answer);

// What is alive at the peak as folded stacks: the lines of the program, outermost first, then the operator;
// bytes.
std::string memory_folded(const MemoryAnswer& answer);

// What to do, most important first; whole sentences.
std::vector<std::string> memory_findings(const std::vector<RecordedStep>& steps, const MemoryAnswer& answer);

// What is known of growth where none of these tells of it; empty: one does.
std::string growth_note(const MemoryAnswer& answer);

}  // namespace lotus::analyzer::memory
