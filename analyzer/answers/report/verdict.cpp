#include "answers/report/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

constexpr double kToldMissing = 0.01;  // share of the loop from which on missing records are mentioned

// The loader that training waited for longest: statements about workers refer to it.
const LoaderFinding* worst_loader(const Findings& findings) {
  const auto less = [](const LoaderFinding& a, const LoaderFinding& b) { return a.next < b.next; };
  const auto worst = std::max_element(findings.loaders.begin(), findings.loaders.end(), less);
  return worst == findings.loaders.end() ? nullptr : &*worst;
}

std::optional<std::uint64_t> needed_workers(const LoaderFinding& loader) {
  if (loader.fetch.empty() || loader.train_step.mean() <= 0) return std::nullopt;
  const double ratio = std::ceil(loader.fetch.mean() / loader.train_step.mean());
  return static_cast<std::uint64_t>(std::clamp(ratio, 1.0, 1e6));
}

std::optional<std::uint64_t> advised_workers(const Diagnosis& diagnosis) {
  for (const auto& advice : diagnosis.advice)
    if (advice.workers) return advice.workers;
  return std::nullopt;
}

std::string workers(std::uint64_t count) { return fmt::format("{} worker{}", count, count == 1 ? "" : "s"); }

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

std::string head(const Findings& findings, const Verdict& verdict) {
  const std::string share = human_percent(*verdict.waited_percent);
  const std::string times = fmt::format("({} of {})", human_time(findings.next), human_time(findings.loop));
  switch (verdict.bound) {
    case Bound::input:
      return fmt::format("Training is input-bound: it waited for data {} of the time {}", share, times);
    case Bound::compute:
      return fmt::format("Training is the limit, not its input: it waited for data only {} of the time {}",
                         share, times);
    default:
      return fmt::format("Training and its input are about balanced: it waited for data {} of the time {}",
                         share, times);
  }
}

// Native code that __getitem__ calls itself is no operation; it may still be most of the work.
bool mostly_outside_ops(const Findings& findings) {
  const OpFinding* op = dominant_op(findings);
  return own_time_outside_ops(findings) > (op == nullptr ? 0 : op->fetch_self);
}

std::string about_op(const Findings& findings) {
  const OpFinding* op = dominant_op(findings);
  if (mostly_outside_ops(findings) && findings.fetch_time > 0)
    return fmt::format("; {} of preprocessing is in the dataset's own code, outside any operation",
                       human_percent(100 * own_time_outside_ops(findings) / findings.fetch_time));
  if (op == nullptr) return {};
  return fmt::format("; {} is {} of preprocessing", escaped(op->op.name),
                     human_percent(share_percent(*op, findings)));
}

std::string about_loader(const Findings& findings, const LoaderFinding& worst) {
  if (findings.loaders.size() < 2) return {};
  const std::string dataset = worst.loader ? escaped(worst.loader->dataset) : "of unknown settings";
  const std::uint64_t id = worst.loader ? worst.loader->id : 0;
  const std::string name = dataset.empty() ? "" : fmt::format(" ({})", dataset);
  return fmt::format("; of {} loaders, {}{} kept it waiting longest, {} of its loop", findings.loaders.size(),
                     id, name, human_percent(worst.waited_percent().value_or(0)));
}

std::string reason_of(const LoaderFinding& loader) {
  return fmt::format("(a batch takes {} to make and {} to train on)", human_time(loader.fetch.mean()),
                     human_time(loader.train_step.mean()));
}

// The number of workers that the cores can serve: one per core, or more if workers mostly sleep or wait for
// storage. Only below kIdleShare of computing is it certain that the rest is not waiting for a core.
constexpr double kIdleShare = 0.25;
std::uint64_t servable_workers(const Findings& findings) {
  if (findings.cores == 0) return UINT64_MAX;
  const double computing = findings.fetch_cpu_share().value_or(1);
  if (computing >= kIdleShare) return findings.cores;
  return static_cast<std::uint64_t>(static_cast<double>(findings.cores) / std::max(computing, 0.01));
}

std::string what_to_make_cheaper(const Findings& findings) {
  const OpFinding* op = dominant_op(findings);
  if (mostly_outside_ops(findings)) return "the dataset's own code";
  return op == nullptr ? "the preprocessing" : escaped(op->op.name);
}

// Above this number, a batch takes so much longer than a step that more workers are no useful advice.
constexpr std::uint64_t kMostToAdvise = 64;

std::string keeping_up(std::uint64_t needed) {
  return needed > kMostToAdvise ? std::string("no number of them would keep up")
                                : fmt::format("keeping up would take {}", needed);
}

std::string beyond_cores(const Findings& findings, std::uint64_t present, std::uint64_t needed) {
  const std::uint64_t most = servable_workers(findings);
  const std::string cores = fmt::format("{} core{}", findings.cores, findings.cores == 1 ? "" : "s");
  const std::string cheaper = what_to_make_cheaper(findings);
  if (present < most)
    return fmt::format(
        "more workers help only up to {}, which fill the {} of this machine, and {}: make {} cheaper as well",
        most, cores, keeping_up(needed), cheaper);
  return fmt::format("more workers would not help, {} already fill the {} and {}: make {} cheaper", present,
                     cores, keeping_up(needed), cheaper);
}

std::string about_no_workers(const Findings& findings, std::uint64_t needed) {
  const std::uint64_t most = servable_workers(findings);
  const std::string start =
      fmt::format("the training process makes its batches itself: num_workers={}", std::min(needed, most));
  if (needed <= most) return start + " would make them meanwhile";
  return start + fmt::format(" would use all cores, {}", keeping_up(needed));
}

std::string about_evenness(const LoaderFinding& loader, std::uint64_t present) {
  const double ratio = loader.fetch.quantile(0.99) / std::max(1.0, loader.fetch.quantile(0.5));
  return fmt::format(
      "{} {} enough on average, batches come unevenly (the slowest 1 % take {:.1f} times the median)",
      workers(present), present == 1 ? "is" : "are", ratio);
}

// Whether more workers would help.
std::string advice(const Findings& findings, const Verdict& verdict, const LoaderFinding& loader) {
  if (verdict.bound == Bound::compute) return "more workers would gain nothing";
  if (!verdict.workers)
    return "whether more workers would help is unknown: the loader's settings are missing from the trace";
  if (!verdict.workers_needed)
    return "too few batches were trained on to say whether more workers would help";
  const std::uint64_t needed = *verdict.workers_needed;
  const std::uint64_t present = *verdict.workers;
  if (present == 0) return about_no_workers(findings, needed) + " " + reason_of(loader);
  if (needed <= present) return about_evenness(loader, present);
  if (needed <= servable_workers(findings))
    return fmt::format("{} instead of {} would keep up {}", workers(needed), present, reason_of(loader));
  return beyond_cores(findings, present, needed) + " " + reason_of(loader);
}

std::optional<Diagnosis> diagnosis_of(const Findings& findings) {
  return findings.recordings.empty() ? std::nullopt : diagnosis_of(findings.recordings.front());
}

std::string nothing_to_judge(const Findings& findings) {
  if (findings.quality.events == 0 && findings.quality.truncated)
    return "No event is in the part of the trace that is here: it was cut off, or is still being written.";
  if (findings.quality.events == 0) return "Nothing was recorded: the trace holds no event.";
  const QualityFinding& q = findings.quality;
  const bool lossy = q.truncated || q.damage.count > 0 || q.gaps > 0 || q.lost_events > 0;
  if (findings.fetch.empty() && lossy)
    return "How a batch was made is not in the part of the trace that is here.";
  if (findings.fetch.empty())
    return "No batch was recorded: while it was traced, the program got none from a DataLoader.";
  return fmt::format(
      "Too little was recorded to judge: {} batch{} made, and {}.", human_count(findings.fetch.count()),
      findings.fetch.count() == 1 ? " was" : "es were",
      lossy ? "the training process's records are missing from the trace" : "no training loop asked for one");
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
  const LoaderFinding* worst = worst_loader(findings);
  if (worst == nullptr || findings.loop <= 0 || findings.fetch.empty()) {
    verdict.message = nothing_to_judge(findings);
    return verdict;
  }
  const double waited = 100 * findings.next / findings.loop;
  verdict.waited_percent = waited;
  verdict.bound = waited >= kInputBoundPercent     ? Bound::input
                  : waited <= kComputeBoundPercent ? Bound::compute
                                                   : Bound::balanced;
  if (worst->loader) verdict.workers = worst->loader->workers;
  verdict.diagnosis = diagnosis_of(findings);
  if (verdict.diagnosis)
    verdict.workers_needed = advised_workers(*verdict.diagnosis);
  else if (worst->loader)
    verdict.workers_needed = needed_workers(*worst);
  const std::string what =
      verdict.diagnosis ? verdict.diagnosis->advice.front().message : advice(findings, verdict, *worst);
  const bool told =
      verdict.diagnosis && verdict.diagnosis->cause == Cause::op;  // the advice names the operation
  verdict.message = head(findings, verdict) + about_gaps(findings) + about_unseen(findings) +
                    (told ? "" : about_op(findings)) + about_loader(findings, *worst) + "; " + what + ".";
  return verdict;
}

}  // namespace lotus::analyzer
