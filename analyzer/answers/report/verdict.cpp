#include "answers/report/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

constexpr double kToldMissing = 0.01;  // share of the loop from which on missing records are mentioned

std::optional<std::uint64_t> advised_workers(const Diagnosis& diagnosis) {
  for (const auto& advice : diagnosis.advice)
    if (advice.workers) return advice.workers;
  return std::nullopt;
}

// Shares refer to the recorded part of the loop.
std::string about_gaps(const Findings& findings) {
  const double missing = findings.quality.missing_loop;
  if (missing < kToldMissing * findings.loop) return {};
  return fmt::format("; another {} of the loop is missing from the trace", human_time(missing));
}

// A worker's records may be missing for batches that training got: they arrive later, or are lost.
std::string about_unseen(const Findings& findings) {
  if (findings.recordings.empty() || findings.recordings.front().seen()) return {};
  const Recording& recording = findings.recordings.front();
  return fmt::format("; how {} of its {} batches were made is not in the trace{}",
                     human_count(recording.unseen), human_count(recording.batches),
                     findings.quality.truncated ? ", perhaps not yet" : "");
}

// The loops are not all of training's time: iterators are made and started before.
std::string about_starting(const Findings& findings) {
  constexpr double kToldShare = 0.1;
  double starting = 0;
  for (const Recording& recording : findings.recordings)
    starting += std::max(0.0, recording.achieved.time - recording.achieved.loop);
  if (starting < kToldShare * (findings.loop + starting)) return {};
  return fmt::format(", and another {} until iterators had started", human_time(starting));
}

std::string head_of(const Findings& findings, const Verdict& verdict) {
  const std::string waited =
      fmt::format("it waited for data {}{} of the time ({} of {})",
                  verdict.bound == Bound::compute ? "only " : "", human_percent(*verdict.waited_percent),
                  human_time(findings.next), human_time(findings.loop)) +
      about_starting(findings);
  const Cause cause = verdict.diagnosis.cause();
  // Each is asked for a batch and left: what is between two of them is no step.
  if (cause == Cause::iterators) return "Training is input-bound";
  if (verdict.bound == Bound::input) return "Training is input-bound: " + waited;
  if (cause == Cause::dataset_in_step)
    return "Training is slowed by its dataset, in its own steps: " + waited;
  if (cause == Cause::training) return "Training is the limit, not its input: " + waited;
  if (cause == Cause::balanced || cause == Cause::unknown)
    return "Training and its input are about balanced: " + waited;
  return "Training hardly waits for its input: " + waited;
}

// Native code that __getitem__ calls itself is no operation; it may still be most of the work.
bool mostly_outside_ops(const Findings& findings) {
  const OpFinding* op = dominant_op(findings);
  return own_time_outside_ops(findings) > (op == nullptr ? 0 : op->fetch_self);
}

std::string about_op(const Findings& findings) {
  const OpFinding* op = dominant_op(findings);
  if (mostly_outside_ops(findings) && findings.fetch_time > 0)
    return fmt::format("{} of preprocessing is in the dataset's own code, outside any operation",
                       human_percent(100 * own_time_outside_ops(findings) / findings.fetch_time));
  if (op == nullptr) return {};
  return fmt::format("{} is {} of preprocessing", escaped(op->op.name),
                     human_percent(share_percent(*op, findings)));
}

std::string about_loader(const Findings& findings, const LoaderFinding& worst) {
  if (findings.loaders.size() < 2) return {};
  const std::string dataset = worst.loader ? escaped(worst.loader->name()) : "of unknown settings";
  const std::uint64_t id = worst.loader ? worst.loader->id : 0;
  const std::string name = dataset.empty() ? "" : fmt::format(" ({})", dataset);
  return fmt::format("of {} loaders, {}{} kept it waiting longest, {} of its loop", findings.loaders.size(),
                     id, name, human_percent(worst.waited_percent().value_or(0)));
}

// Whether what takes the time is told with the causes, or not known.
bool names_cost(const Case& c, const Diagnosis& diagnosis) {
  return c.is_other() || row_of(diagnosis.cause()).names_cost ||
         std::any_of(diagnosis.held.begin(), diagnosis.held.end(), [](const Judged& judged) {
           return judged.cause == Cause::op || judged.cause == Cause::own_code;
         });
}

void say(Verdict& verdict, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    verdict.message += (verdict.parts.empty() ? "" : "; ") + part;
    verdict.parts.push_back(part);
  }
  verdict.message += ".";
}

// Training itself stands still: that comes before all that was measured until then.
std::string about_standing(const Findings& findings) {
  const auto trains = [](const Stuck& stuck) { return !stuck.process->worker_of; };
  const auto training = std::find_if(findings.stuck.begin(), findings.stuck.end(), trains);
  if (training == findings.stuck.end()) return {};
  std::string text =
      fmt::format("Training does not go on: it has been {} for at least {}",
                  training->name == "waiting for a batch" ? training->name : "in " + escaped(training->name),
                  human_time(training->at_least));
  const auto worker = std::find_if_not(findings.stuck.begin(), findings.stuck.end(), trains);
  const auto frame = [](const Stuck& stuck) {
    return stuck.frames.empty() ? std::string() : ", at " + place_of(stuck.frames.front());
  };
  if (worker == findings.stuck.end()) return text + frame(*training) + ". Until then: ";
  text += fmt::format(
      "; worker {} has been in {}{} for {}", worker->process->worker_of->worker, escaped(worker->name),
      worker->index ? fmt::format(" of sample {}", *worker->index) : "", human_time(worker->at_least));
  return text + frame(*worker) + ". Until then: ";
}

}  // namespace

const char* name_of(Bound bound) {
  switch (bound) {
    case Bound::input:
      return "input";
    case Bound::compute:
      return "compute";
    case Bound::balanced:
    case Bound::unknown:
      return "balanced";
  }
  return "balanced";
}

Verdict verdict_of(const Findings& findings) {
  Verdict verdict;
  const Case c(findings);
  verdict.diagnosis = diagnosis_of(c);
  const std::string& what = verdict.diagnosis.advice.front().message;
  if (!c.judgeable()) {
    say(verdict, {about_standing(findings) + what});
    return verdict;
  }
  const LoaderFinding& worst = *c.loader();
  const double waited = 100 * findings.next / findings.loop;
  verdict.waited_percent = waited;
  verdict.bound = waited >= kInputBoundPercent     ? Bound::input
                  : waited <= kComputeBoundPercent ? Bound::compute
                                                   : Bound::balanced;
  if (worst.loader && !worst.loader->is_other()) {
    verdict.workers = worst.loader->workers;
    verdict.workers_needed = c.trials() ? advised_workers(verdict.diagnosis) : c.needed_workers();
  }
  const std::string head =
      about_standing(findings) + head_of(findings, verdict) + about_gaps(findings) + about_unseen(findings);
  const std::string most = names_cost(c, verdict.diagnosis) ? std::string() : about_op(findings);
  say(verdict, {head, what, most, about_loader(findings, worst)});
  return verdict;
}

}  // namespace lotus::analyzer
