// The sizes of fast memory that `memory-plan` is asked for, and the units of its options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/plan/input.hpp"
#include "answers/plan/planning.hpp"

namespace lotus::analyzer::memory_plan {

struct PlanOptions {
  std::vector<std::string> traces;
  std::string steps;
  std::optional<std::uint64_t> step;
  std::vector<std::string> fast, ratios;
  std::vector<std::string> modes;
  std::string solver = "auto", kernel_table, mps, figures;
  std::string read = "29GB/s", write = "12GB/s", fast_bandwidth = "100GB/s", latency = "300ns";
  double time_limit = 60, gap_percent = 1, cost_ratio = 2.1;
  bool persistent_fast = false, below_floor = false, executed = false, json = false, force = false;
};

// Bytes/s, and seconds. Throw WrongUsage, with the option's name.
double bandwidth(const char* option, const std::string& text);
double latency(const std::string& text);

// Those that are asked for, else the usual ones that can be planned for, else the least possible one;
// `notes`: what was left out. Throws WrongUsage where one is no size, Unusable where one is too small.
std::vector<Limit> limits_for(const Planned& planned, const Input& input, const PlanOptions& options,
                              const std::vector<Mode>& modes, std::vector<std::string>& notes);

}  // namespace lotus::analyzer::memory_plan
