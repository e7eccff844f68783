// Plans that a program carried out (LOTUS_TRY=memory-plan=FILE), beside what was predicted: AutoTM's
// figure 11.
//
// Every second step follows the plan; those between are as the program has them. So a machine that is slower
// in this run than in the one that was planned for does not count as an error: what is predicted is the time
// of the steps between and the plan's moves; and their peak, less what the plan frees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "answers/memory/recorded_step.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer::memory_plan {

// Seconds, bytes. Times are the least of all steps, as AutoTM's: what else ran on the machine is no error of
// the plan. All else: medians.
struct Executed {
  std::string trace;                  // its file
  std::size_t steps = 0, beside = 0;  // that followed the plan, and those between
  double base_s = 0;                  // of the steps between
  double plan_moving_s = 0, moving_s = 0;
  double actual_s = 0;
  double base_median_s = 0, actual_median_s = 0;
  std::uint64_t base_peak = 0, plan_freed = 0, actual_peak = 0;  // plan_freed: by how much the peak is less
  bool steps_differ = false;  // those without the plan, in what they hold at their peaks
  std::uint64_t plan_moves = 0, moves = 0, late = 0, moved_bytes = 0;

  double predicted_s() const { return base_s + plan_moving_s; }
  std::uint64_t predicted_peak() const { return base_peak - std::min(base_peak, plan_freed); }
  // Whether the moves were made that are predicted, all but a tenth: else there is no error of a prediction.
  bool was_followed() const { return plan_moves > 0 && 10 * moves >= 9 * plan_moves; }
  // AutoTM's: (predicted - actual) / actual.
  double error_percent() const { return 100 * (predicted_s() - actual_s) / actual_s; }
};

// Of one trace; one for each process that followed a plan. Throws Unusable where none did, or too few steps.
std::vector<Executed> executed_of(const std::vector<memory::RecordedStep>& steps, const std::string& trace);

// What every output says of itself.
const char* executed_note();

std::string executed_text(const std::vector<Executed>& all, const Terminal& terminal);
nlohmann::ordered_json executed_json(const std::vector<Executed>& all);

}  // namespace lotus::analyzer::memory_plan
