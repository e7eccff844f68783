#include <fmt/format.h>

#include "answers/causes/rows.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

std::vector<Evidence> waiting(const Case& c) {
  return {{"training waited, of its loop", c.waited_percent(), "percent"},
          {"mean time to train on a batch", c.mean_step() / kNsPerMs, "ms"}};
}

std::string place_of(const LoaderFinding& finding) {
  const std::string place = finding.loader ? finding.loader->place() : "";
  return place.empty() ? place : " made at " + escaped(place);
}

// Python gives its threads names from 3.14 on; before, they have the program's.
std::string name_of(const TakingThread& taker, const Process& training) {
  if (taker.tid == training.pid) return "the main one";
  if (taker.name.empty() || taker.name.starts_with("python")) return fmt::format("number {}", taker.tid);
  return fmt::format("{}, number {}", escaped(taker.name), taker.tid);
}

std::string why_taken_elsewhere(const LoaderFinding& finding) {
  return fmt::format(
      "How long training waits for its data is not known: the batches of the DataLoader{} are taken by "
      "another thread of training's process ({}), which trains nothing itself and hands them on, as "
      "prefetching ones do; what that thread waits is no wait of training's. What would tell: the time "
      "around the call that gives training a batch, or a run in which training itself goes through the "
      "DataLoader",
      place_of(finding), name_of(finding.taker, *finding.training));
}

std::string why_too_little(const Case& c) {
  if (c.taken_elsewhere()) return why_taken_elsewhere(*c.loader());
  const Findings& findings = c.findings();
  const QualityFinding& q = findings.quality;
  if (q.events == 0 && q.truncated)
    return "No event is in the part of the trace that is here: it was cut off, or is still being written";
  if (q.events == 0) return "Nothing was recorded: the trace holds no event";
  const bool lossy = q.truncated || q.damage.count > 0 || q.gaps > 0 || q.lost_events > 0;
  if (findings.fetch.empty() && lossy)
    return "How a batch was made is not in the part of the trace that is here";
  if (findings.fetch.empty())
    return "No batch was recorded: while it was traced, the program got none. Looked for were PyTorch's "
           "DataLoader, its subclasses and copies, iterators of installed packages that give tensors, and "
           "the program's own that give tensors of two dimensions or more and between whose results an "
           "optimizer of PyTorch's steps";
  if (findings.loop > 0 && !findings.waits_known())
    return "Whether training waits for its data is not known: nothing in the trace says how long it waited "
           "for a batch (in imported logs, lines of SBatchWait_ would)";
  return fmt::format(
      "Too little was recorded to judge: {} batch{} made, and {}", human_count(findings.fetch.count()),
      findings.fetch.count() == 1 ? " was" : "es were",
      lossy ? "the training process's records are missing from the trace" : "no training loop asked for one");
}

// With an instant step, training would be this much faster: its input could feed a faster one.
constexpr double kFedFaster = 50;

double gain_of_instant_step(const Case& c) {
  Question instant;
  instant.step.factor = 0;
  return c.trials()->gain_of(instant);
}

}  // namespace

Judgement judge_too_little(const Case& c) {
  if (c.judgeable()) return ruled_out("there is enough to judge");
  Judgement out{.holds = true,
                .words = why_too_little(c),
                .evidence = {{"batches made", static_cast<double>(c.findings().fetch.count())}}};
  if (!c.taken_elsewhere()) return out;
  const TakingThread& taker = c.loader()->taker;
  out.evidence.push_back({"thread that takes the batches", static_cast<double>(taker.tid)});
  out.evidence.push_back({"steps that other threads made meanwhile", static_cast<double>(taker.steps)});
  return out;
}

// Training hardly waits, and its input could feed a faster one.
Judgement judge_training(const Case& c) {
  Judgement out;
  out.explains = 100 - c.waited_percent();
  out.evidence = waiting(c);
  out.holds = !c.waits() && (c.trials() ? gain_of_instant_step(c) >= kFedFaster
                                        : c.waited_percent() <= kComputeBoundPercent);
  out.words = out.holds ? "nothing is to be gained in the loader"
              : c.waits()
                  ? fmt::format("training waited for {} of its loop", human_percent(c.waited_percent()))
                  : "its input could not feed a faster one";
  return out;
}

// Training hardly waits, and its input could not feed a much faster one.
Judgement judge_balanced(const Case& c) {
  if (c.waits())
    return ruled_out(fmt::format("training waited for {} of its loop", human_percent(c.waited_percent())));
  return {.holds = true, .words = "there is nothing to gain in the loader", .evidence = waiting(c)};
}

Judgement judge_unknown(const Case& c) {
  if (c.is_other())
    return {
        .holds = true,
        .words = fmt::format("why is not known: {} gives the batches, and what happens inside of it is not "
                             "recorded",
                             escaped(c.loader()->loader->name())),
        .evidence = waiting(c)};
  return {.holds = true,
          .words = c.trials()
                       ? "why is not known: no single change that was tried gains more than the replay is "
                         "uncertain by"
                       : "why is not known: too few batches were recorded to try changes",
          .evidence = waiting(c)};
}

}  // namespace lotus::analyzer
