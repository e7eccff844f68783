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
constexpr double kLeastGrowth = 1024;               // bytes
constexpr std::uint64_t kLeastUntouched = 1 << 20;  // bytes
constexpr double kMostlyActivations = 0.5, kLeastOfPeak = 0.25, kMostlyFaults = 0.1;

std::string where_text(const Group& group) {
  return group.source.file.empty() ? "at a line that is not known"
                                   : (group.forward.empty() ? "at " : "in the ") + escaped(made_at(group));
}

// "6.25 MiB at train.py:31, 2.00 MiB at model.py:12"
std::string places_text(const std::vector<Group>& groups) {
  std::map<std::string, std::uint64_t> by_place;
  for (const Group& group : groups) by_place[where_text(group)] += group.bytes;
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  sorted.reserve(by_place.size());
  for (const auto& [place, bytes] : by_place) sorted.emplace_back(bytes, place);
  std::sort(sorted.rbegin(), sorted.rend());
  constexpr std::size_t kShown = 3;
  std::vector<std::string> parts;
  parts.reserve(kShown + 1);
  for (std::size_t i = 0; i < sorted.size() && i < kShown; ++i)
    parts.push_back(human_bytes(static_cast<double>(sorted[i].first)) + " " + sorted[i].second);
  if (sorted.size() > kShown)
    parts.push_back(
        fmt::format("{} more line{}", sorted.size() - kShown, sorted.size() > kShown + 1 ? "s" : ""));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string level_text(const Growth& growth) {
  if (growth.levels.size() < 2) return "";
  const Level &first = growth.levels.front(), &last = growth.levels.back();
  return fmt::format("In use were {} when step {} began, {} when step {} did.",
                     human_bytes(static_cast<double>(first.bytes)), first.step,
                     human_bytes(static_cast<double>(last.bytes)), last.step);
}

void tell_growth(const Growth& growth, std::vector<std::string>& out) {
  if (growth.steps < 2 || growth.bytes_per_step < kLeastGrowth) return;
  const char* const holder = growth.keeps_graphs ? "Most of it are tensors between operators, several of a "
                                                   "step: a graph for a backward pass holds them, as "
                                                   "of a loss or an output that is kept in a list or summed "
                                                   "up. Keep loss.item() or loss.detach(), and run "
                                                   "what needs no backward pass under torch.no_grad()."
                                                 : "Something holds them: a list, a dictionary, a closure, "
                                                   "an attribute; or, where they are part of a graph "
                                                   "for a backward pass, that graph.";
  out.push_back(fmt::format(
      "Memory grows by {} a step or more: what is made there is still there when the next step ends: {}. {} "
      "{}",
      human_bytes(growth.bytes_per_step), places_text(growth.groups), level_text(growth), holder));
}

// Made in some steps only.
void tell_rise(const Growth& growth, std::vector<std::string>& out) {
  if (growth.trend != Trend::rises || growth.bytes_per_step >= kLeastGrowth) return;
  std::string told = "Memory in use rises from step to step. " + level_text(growth);
  if (growth.sometimes.empty())
    told +=
        " No recorded step left it behind: it is made in steps that are not recorded; LOTUS_STEPS=all "
        "records all.";
  else
    told += fmt::format(" Not every step leaves something behind; at most it was: {}.",
                        places_text(growth.sometimes));
  out.push_back(std::move(told));
}

void tell_end(const RecordedStep& step, std::uint64_t last, std::vector<std::string>& out) {
  if (step.process->ending != Ending::killed || !step.ended) return;
  out.push_back(fmt::format(
      "The program was killed; the last step that is recorded is {}. What it held in the end is not known: "
      "LOTUS_STEPS=all would tell.",
      last));
}

std::uint64_t in_role(const MemoryAnswer& answer, Role role) {
  const auto found = answer.by_role.find(role);
  return found == answer.by_role.end() ? 0 : found->second;
}

// Before all recorded steps, and not used in this one.
std::uint64_t made_before(const MemoryAnswer& answer) {
  std::uint64_t bytes = 0;
  for (const Group& group : answer.alive_at_peak)
    if (group.role == Role::untouched && group.storages == 0) bytes += group.bytes;
  return bytes;
}

void tell_activations(const MemoryAnswer& answer, std::vector<std::string>& out) {
  const std::uint64_t of_batch = in_role(answer, Role::activation) + in_role(answer, Role::backward) +
                                 in_role(answer, Role::batch) + answer.workspace_at_peak;
  const auto peak = static_cast<double>(answer.step->peak_bytes);
  const double in_step = peak - static_cast<double>(made_before(answer));
  if (peak <= 0 || static_cast<double>(of_batch) < kMostlyActivations * in_step ||
      static_cast<double>(of_batch) < kLeastOfPeak * peak)
    return;
  const std::string instead = answer.step->trains()
                                  ? "a smaller batch with gradients summed over several, "
                                    "torch.utils.checkpoint around the parts of the "
                                    "model that make most of it, or a smaller type (bfloat16)"
                                  : "a smaller batch, or torch.no_grad() if nothing is trained here";
  out.push_back(
      fmt::format("{} of the peak are the batch and what is computed from it, most of which grows with the "
                  "size of the batch: "
                  "half of it would take up to {} less. What helps: {}.",
                  human_percent(100 * static_cast<double>(of_batch) / peak),
                  human_bytes(static_cast<double>(of_batch) / 2), instead));
}

void tell_untouched(const MemoryAnswer& answer, std::vector<std::string>& out) {
  const std::uint64_t unknown = made_before(answer);
  const auto peak = static_cast<double>(answer.step->peak_bytes);
  if (unknown < kLeastUntouched || static_cast<double>(unknown) < kLeastOfPeak * peak ||
      !answer.step->live_known)
    return;
  out.push_back(fmt::format(
      "{} of the peak, {}, were made before the first recorded step, and no operator of this step uses "
      "them: as a data set in memory, a second model, or what the program keeps. Who made them is not "
      "known.",
      human_percent(100 * static_cast<double>(unknown) / peak), human_bytes(static_cast<double>(unknown))));
}

// Faults are explained by the blocks if there are about as many as these have pages.
void tell_faults(const Faults& usual, std::vector<std::string>& out) {
  constexpr double kPage = 4096;
  if (usual.steps == 0 || usual.kernel_s < kMostlyFaults * usual.seconds) return;
  const double faulted = usual.faults * kPage;
  if (faulted < 0.5 * usual.bytes || faulted > 1.5 * usual.bytes) return;
  // The kernel may count its part of a thread's CPU time by ticks: short steps have too many then.
  const std::string share = usual.kernel_s < usual.seconds
                                ? "Up to " + human_percent(100 * usual.kernel_s / usual.seconds)
                                : std::string("Much");
  const std::string kernel =
      usual.kernel_s < usual.seconds
          ? fmt::format(", {} of CPU time in the kernel", human_time(usual.kernel_s * kNsPerS))
          : ". How much is not known: the kernel counts its own CPU time too coarsely for a step of " +
                human_time(usual.seconds * kNsPerS);
  out.push_back(
      fmt::format("{} of a usual step is page faults: its {:.0f} blocks of 128 KiB and more, {} in "
                  "all, are given back to "
                  "the kernel and fetched anew ({:.0f} faults{}). Where memory "
                  "is not short, keep "
                  "them: run with MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184, or with jemalloc or "
                  "tcmalloc preloaded.",
                  share, usual.blocks, human_bytes(usual.bytes), usual.faults, kernel));
}

}  // namespace

std::vector<std::string> memory_findings(const std::vector<RecordedStep>& steps, const MemoryAnswer& answer) {
  std::vector<std::string> out;
  if (answer.step == nullptr) return out;
  std::uint64_t last = 0;
  for (const RecordedStep& step : steps)
    if (step.process == answer.step->process) last = std::max(last, step.step.number);
  tell_growth(answer.growth, out);
  tell_rise(answer.growth, out);
  tell_end(*answer.step, last, out);
  tell_activations(answer, out);
  tell_untouched(answer, out);
  tell_faults(answer.faults, out);
  return out;
}

// What is known of growth where no finding tells it.
std::string growth_note(const MemoryAnswer& answer) {
  const Growth& growth = answer.growth;
  if (growth.bytes_per_step >= kLeastGrowth || growth.trend == Trend::rises) return "";
  const char* const beside =
      answer.beside_allocator > 0 ? " What lies in shared memory or is of other libraries is not in it." : "";
  if (growth.trend == Trend::flat)
    return "Memory does not grow from step to step. " + level_text(growth) + beside;
  if (growth.trend == Trend::unknown)
    return "Whether memory grows from step to step is not known: too few steps are recorded; LOTUS_STEPS=all "
           "records "
           "all.";
  return "Whether memory grows is not known: it rose and fell, or rose once. " + level_text(growth) + beside +
         (growth.sometimes.empty()
              ? ""
              : " What a step left behind at most: " + places_text(growth.sometimes) + ".");
}

}  // namespace lotus::analyzer::memory
