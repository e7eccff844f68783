#include "paper/figures/memory_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "paper/figures/drawings.hpp"
#include "paper/tables/data_table.hpp"
#include "text/error.hpp"

namespace lotus::analyzer {
namespace {

using memory::MemoryAnswer;
using memory::RecordedStep;

constexpr std::size_t kMoments = 400;  // that are drawn
constexpr double kMsPerS = 1e3;        // in a second

// Of each part of the step's time, the moment with most in use: no peak is left out.
std::vector<double> moments_of(const RecordedStep& step) {
  std::map<std::size_t, memory::LivePoint> most;
  for (const memory::LivePoint& point : step.live) {
    const double share = step.seconds > 0 ? point.seconds / step.seconds : 0;
    const auto part = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kMoments);
    const auto [known, is_new] = most.try_emplace(part, point);
    if (!is_new && point.bytes > known->second.bytes) known->second = point;
  }
  std::vector<double> moments;
  moments.reserve(most.size());
  for (const auto& [part, point] : most) moments.push_back(point.seconds);
  return moments;
}

void add_moment(DataTable& table, const MemoryAnswer& answer, double seconds) {
  const memory::Composition parts = memory::composition_at(*answer.step, seconds);
  const auto add = [&](const char* name, std::uint64_t bytes) {
    table.add({"in use", name, kMsPerS * seconds, nullptr, bytes});
  };
  for (const auto& [role, at_peak] : answer.by_role) {
    const auto found = parts.by_role.find(role);
    const bool constant = role == memory::Role::untouched;
    add(memory::name_of(role), constant ? at_peak : found == parts.by_role.end() ? 0 : found->second);
  }
  std::uint64_t others = parts.workspace;  // of kinds that are not there at the peak, too
  for (const auto& [role, bytes] : parts.by_role)
    if (!answer.by_role.contains(role)) others += bytes;
  add("workspace and others", others);
}

void add_phases(DataTable& table, const RecordedStep& step) {
  for (std::size_t i = 0; i < step.step.operators.size();) {
    std::size_t end = i + 1;
    while (end < step.step.operators.size() && step.step.operators[end].phase == step.step.operators[i].phase)
      ++end;
    table.add({"phase", memory::name_of(step.step.operators[i].phase), kMsPerS * step.begins_s[i],
               kMsPerS * step.ends_s[end - 1], nullptr});
    i = end;
  }
}

DataTable table_of(const MemoryAnswer& answer) {
  const RecordedStep& step = *answer.step;
  DataTable table{{{"kind", "kind", Unit::text},
                   {"name", "of", Unit::text},
                   {"begin_ms", "from", Unit::number},
                   {"end_ms", "to", Unit::number},
                   {"bytes", "bytes", Unit::count}},
                  {}};
  for (const double seconds : moments_of(step)) add_moment(table, answer, seconds);
  add_phases(table, step);
  table.add({"peak", "the peak", kMsPerS * step.peak_s, nullptr, step.peak_bytes});
  if (answer.floor.op) table.add({"floor", "the floor", nullptr, nullptr, answer.floor.bytes});
  return table;
}

}  // namespace

std::string draw_memory_figure(const MemoryAnswer& answer, const std::string& directory, bool replace) {
  if (answer.step == nullptr)
    throw Unusable(
        "no figure is drawn: no step of training is recorded with its operators; record with "
        "LOTUS_STEPS=auto (the default) or all");
  return draw_into(directory,
                   {{"memory", "memory-step",
                     fmt::format("Memory in use over step {}", answer.step->step.number), table_of(answer)}},
                   replace);
}

}  // namespace lotus::analyzer
