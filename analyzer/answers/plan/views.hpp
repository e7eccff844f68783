// Plans as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "answers/plan/input.hpp"
#include "answers/plan/planning.hpp"
#include "text/terminal.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::memory_plan {

inline std::string time_text(double seconds) { return human_time(seconds * kNsPerS); }
inline std::string bytes_text(std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); }

struct Answer {
  const Planned& planned;
  const Input& input;
  std::size_t alike = 1, of = 1;   // steps, as of TypicalStep
  std::vector<std::string> notes;  // what was left out, and why
  double cost_ratio = 2.1;         // a byte of fast memory costs as much as so many of slow memory
};

// What every output says of itself: that it is a model, and where its times come from.
std::string model_note(const Rules& rules);

// "aten::mm (train.py:12)"; and the line alone, "" where it is not known.
std::string operator_name(const memory::Step& step, const Input& input, std::size_t index);
std::string source_name(const Input& input, std::uint64_t place);

// Memory cost of a limit against all in fast memory (AutoTM's figure 9): (r / c + 1) / (r + 1) for r bytes of
// slow memory a byte of fast memory, of which one costs c times the other.
double memory_cost(std::uint64_t limit, std::uint64_t peak, double cost_ratio);

std::string plans_text(const Answer& answer, const Terminal& terminal);
// Keys are documented in lotus-json(5).
nlohmann::ordered_json plans_json(const Answer& answer);

}  // namespace lotus::analyzer::memory_plan
