// What a step's memory says of the program: sentences.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "answers/memory/views.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::memory {
namespace {

// Less in a step may be anything.
constexpr double kLeastGrowth = 1024;  // bytes
constexpr double kMostlyActivations = 0.5, kMostlyFaults = 0.1;

std::string bytes_text(double bytes) { return human_bytes(bytes); }

std::string where_text(const Group& group) {
  return group.source.file.empty() ? "at a line that is not known"
                                   : "at " + escaped(source_text(group.source));
}

// "6.25 MiB at train.py:31 and 2 MiB at model.py:12"
std::string places_text(const std::vector<Group>& groups) {
  std::map<std::string, std::uint64_t> by_place;
  for (const Group& group : groups) by_place[where_text(group)] += group.bytes;
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [place, bytes] : by_place) sorted.emplace_back(bytes, place);
  std::sort(sorted.rbegin(), sorted.rend());
  constexpr std::size_t kShown = 3;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sorted.size() && i < kShown; ++i)
    parts.push_back(bytes_text(static_cast<double>(sorted[i].first)) + " " + sorted[i].second);
  if (sorted.size() > kShown) parts.push_back(fmt::format("{} more lines", sorted.size() - kShown));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string level_text(const Growth& growth) {
  if (growth.last_step <= growth.first_step) return "";
  return fmt::format(" PyTorch's allocator had given out {} when step {} began and {} when step {} did.",
                     bytes_text(static_cast<double>(growth.first_bytes)), growth.first_step,
                     bytes_text(static_cast<double>(growth.last_bytes)), growth.last_step);
}

void tell_growth(const Growth& growth, std::vector<std::string>& out) {
  if (growth.steps < 2) return;
  if (growth.bytes_per_step < kLeastGrowth) return;
  std::string told = fmt::format(
      "Memory grows by {} a step: what is made there is still there when the next step ends: {}.{}",
      bytes_text(growth.bytes_per_step), places_text(growth.groups), level_text(growth));
  if (growth.keeps_graphs)
    told +=
        " Most of it are tensors between two operators, which no variable has to hold: the graph for a "
        "backward pass "
        "holds them, as of a loss or an output that is kept in a list or summed up. Keep loss.item() or "
        "loss.detach(), and run what needs no backward pass under torch.no_grad().";
  else
    told +=
        " Something keeps them: a list, a dictionary, a closure, an attribute. Release what is no longer "
        "needed, "
        "or keep a detached copy in a smaller form.";
  out.push_back(std::move(told));
}

std::uint64_t in_role(const MemoryAnswer& answer, Role role) {
  const auto found = answer.by_role.find(role);
  return found == answer.by_role.end() ? 0 : found->second;
}

void tell_activations(const MemoryAnswer& answer, std::vector<std::string>& out) {
  const std::uint64_t of_batch =
      in_role(answer, Role::activation) + in_role(answer, Role::backward) + in_role(answer, Role::batch);
  const auto peak = static_cast<double>(answer.step->peak_bytes);
  if (peak <= 0 || static_cast<double>(of_batch) < kMostlyActivations * peak) return;
  const std::string instead = answer.step->trains()
                                  ? "a smaller batch with gradients summed over several, "
                                    "torch.utils.checkpoint around the modules that are "
                                    "named below, or a smaller type (bfloat16)"
                                  : "a smaller batch, or torch.no_grad() if nothing is trained here";
  out.push_back(
      fmt::format("{} of the peak are the batch and the tensors made of it, which grow with the size of the "
                  "batch: half of it would "
                  "take about {} less. What helps: {}.",
                  human_percent(100 * static_cast<double>(of_batch) / peak),
                  bytes_text(static_cast<double>(of_batch) / 2), instead));
}

void tell_faults(const MemoryAnswer& answer, std::vector<std::string>& out) {
  const RecordedStep& step = *answer.step;
  constexpr double kPage = 4096;
  if (!step.ended || step.seconds <= 0 || step.system_s < kMostlyFaults * step.seconds) return;
  const double faulted = static_cast<double>(step.faults) * kPage;
  if (answer.large.bytes == 0 || faulted < 0.5 * static_cast<double>(answer.large.bytes)) return;
  out.push_back(fmt::format(
      "Up to {} of the step is page faults: its {} blocks of 128 KiB and more, {} in all, are given back to "
      "the "
      "kernel and fetched anew in each step ({} faults, {} of CPU time in the kernel). Keep them: run with "
      "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184, or with jemalloc or tcmalloc preloaded.",
      human_percent(100 * step.system_s / step.seconds), answer.large.count,
      bytes_text(static_cast<double>(answer.large.bytes)), human_count(step.faults),
      human_time(step.system_s * kNsPerS)));
}

}  // namespace

std::vector<std::string> memory_findings(const MemoryAnswer& answer) {
  std::vector<std::string> out;
  if (answer.step == nullptr) return out;
  tell_growth(answer.growth, out);
  tell_activations(answer, out);
  tell_faults(answer, out);
  return out;
}

}  // namespace lotus::analyzer::memory
