// What a step's memory says of the program: sentences.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

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

// What other threads do is not recorded: what follows is then of a part of the step.
void tell_elsewhere(const RecordedStep& step, std::vector<std::string>& out) {
  if (step.elsewhere == 0) return;
  const auto bytes = static_cast<double>(step.elsewhere);
  out.push_back(fmt::format(
      "{}: when the step ended, {} {} were in use than what the main thread made and released leaves. "
      "Operators and memory of other threads are not recorded, so the peak may be higher, and its lines and "
      "kinds are those of the main thread alone.{}",
      step.trains_elsewhere()
          ? "No backward pass ran in the main thread, though the optimizer did, and other threads made or "
            "released memory"
          : "Other threads made or released memory in this step",
      human_bytes(std::abs(bytes)), bytes > 0 ? "more" : "less",
      step.trains_elsewhere() ? " Call backward() in the main thread for a recording that has all of it."
                              : ""));
}

void tell_activations(const MemoryAnswer& answer, std::vector<std::string>& out) {
  const std::uint64_t of_batch = in_role(answer, Role::activation) + in_role(answer, Role::backward) +
                                 in_role(answer, Role::batch) + answer.workspace_at_peak;
  const auto peak = static_cast<double>(answer.step->peak_bytes);
  const double in_step = peak - static_cast<double>(answer.untold.bytes);
  if (peak <= 0 || static_cast<double>(of_batch) < kMostlyActivations * in_step ||
      static_cast<double>(of_batch) < kLeastOfPeak * peak)
    return;
  const std::string instead = answer.step->trains() || answer.step->trains_elsewhere()
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

// What came later is no data set: it grows.
void tell_since(const Untold& untold, double peak, std::vector<std::string>& out) {
  const auto bytes = [](std::uint64_t count) { return human_bytes(static_cast<double>(count)); };
  std::string told = fmt::format(
      "{} of the peak, {} or more, came after the first recorded step began: {} were in use then; now {} are "
      "that no operator of this step uses and no recorded step is known to have made.",
      human_percent(100 * static_cast<double>(untold.since) / peak), bytes(untold.since),
      bytes(untold.at_first), bytes(untold.bytes));
  if (untold.between > 0)
    told += fmt::format(
        " In steps between recorded ones, in which nothing is recorded, memory in use rose by {}.",
        bytes(untold.between));
  if (untold.gaps) told += " LOTUS_STEPS=all tells which lines made it.";
  out.push_back(std::move(told));
}

void tell_untold(const MemoryAnswer& answer, std::vector<std::string>& out) {
  const Untold& untold = answer.untold;
  const auto peak = static_cast<double>(answer.step->peak_bytes);
  const auto is_much = [&](std::uint64_t bytes) {
    return bytes >= kLeastUntouched && static_cast<double>(bytes) >= kLeastOfPeak * peak;
  };
  if (!answer.step->live_known) return;
  const std::uint64_t before = untold.bytes - untold.since;
  const bool leaks = answer.growth.trend == Trend::rises && untold.since >= kLeastUntouched;
  if (leaks || is_much(untold.since)) tell_since(untold, peak, out);
  if (!is_much(before)) return;
  out.push_back(fmt::format(
      "{}{} of the peak, {}, were made before the first recorded step, and no operator of this step uses "
      "them: as a data set in memory, a second model, or what the program keeps. Who made them is not "
      "known.",
      untold.since > 0 || untold.between >= kLeastUntouched ? "At most " : "",
      human_percent(100 * static_cast<double>(before) / peak), human_bytes(static_cast<double>(before))));
}

// The kernel may count its part of a thread's CPU time by ticks, of up to 10 ms: a share is told of 25 or
// more.
bool is_counted_well(const Faults& usual) {
  constexpr double kLeastSeconds = 0.25;
  constexpr std::uint64_t kLeastSteps = 4;
  return usual.steps >= kLeastSteps && static_cast<double>(usual.steps) * usual.seconds >= kLeastSeconds;
}

// Faults are explained by the blocks if there are about as many as these have pages.
void tell_faults(const Faults& usual, std::vector<std::string>& out) {
  constexpr double kPage = 4096;
  if (usual.steps == 0 || usual.kernel_s < kMostlyFaults * usual.seconds) return;
  const double faulted = usual.faults * kPage;
  if (faulted < 0.5 * usual.bytes || faulted > 1.5 * usual.bytes) return;
  const std::string steps = usual.steps == 1 ? "a step" : fmt::format("{} steps", usual.steps);
  const bool exact = is_counted_well(usual) && usual.kernel_s < usual.seconds;
  const std::string kernel =
      exact ? fmt::format(", {} of CPU time in the kernel", human_time(usual.kernel_s * kNsPerS)) : "";
  const std::string share =
      exact ? fmt::format("Up to {} of a usual step ({} after the run's second) is page faults",
                          human_percent(100 * usual.kernel_s / usual.seconds), steps)
            : std::string("Page faults are a part of a usual step");
  std::string told = fmt::format(
      "{}: its {:.0f} blocks of 128 KiB and more, {} in all, are given back to the kernel and fetched anew "
      "({:.0f} faults{}).",
      share, usual.blocks, human_bytes(usual.bytes), usual.faults, kernel);
  if (!exact)
    told += fmt::format(
        " How large a part is not known from {} of {}: the kernel counts its own CPU time too coarsely for "
        "that. LOTUS_STEPS=all records more; or compare the run's time.",
        steps, human_time(usual.seconds * kNsPerS));
  out.push_back(told +
                " Where memory is not short, keep them: run with MALLOC_MMAP_MAX_=0 "
                "MALLOC_TRIM_THRESHOLD_=17179869184, or with jemalloc or tcmalloc preloaded.");
}

}  // namespace

std::vector<std::string> memory_findings(const std::vector<RecordedStep>& steps, const MemoryAnswer& answer) {
  std::vector<std::string> out;
  if (answer.step == nullptr) return out;
  std::uint64_t last = 0;
  for (const RecordedStep& step : steps)
    if (step.process == answer.step->process) last = std::max(last, step.step.number);
  tell_elsewhere(*answer.step, out);
  tell_growth(answer.growth, out);
  tell_rise(answer.growth, out);
  tell_end(*answer.step, last, out);
  tell_activations(answer, out);
  tell_untold(answer, out);
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
