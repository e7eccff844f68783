// The answer of `info` about a trace.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reading/model/reading.hpp"
#include "reading/trace/trace.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

using KindCounts = std::array<std::uint64_t, 256>;  // records by code

// The object that `info --json` prints; keys are documented in lotus-analyze(1).
nlohmann::ordered_json describe(const Trace& trace, const Reading& reading, const KindCounts& counts);

// The same as text for people.
std::string description_text(const nlohmann::ordered_json& description, const Terminal& terminal);

}  // namespace lotus::analyzer
