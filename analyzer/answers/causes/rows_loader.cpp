#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "answers/causes/rows.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

std::string workers_text(std::uint64_t count) {
  return fmt::format("{} worker{}", count, count == 1 ? "" : "s");
}

std::string too_small(const char* change, double gain) {
  return fmt::format("{} gains {} in a replay: too little", change, human_percent(std::max(0.0, gain)));
}

std::string batch_and_step(const Case& c) {
  return fmt::format("a batch takes {} to make and {} to train on", human_time(c.mean_fetch()),
                     human_time(c.mean_step()));
}

}  // namespace

// Workers are started for each epoch, and keeping them gains; or most of what training waits for lies before
// the first batch of an epoch.
Judgement judge_startup(const Case& c) {
  const Recording* recording = c.recording();
  if (recording == nullptr || recording->achieved.time <= 0)
    return ruled_out("when epochs began is not known");
  if (c.workers() == 0) return ruled_out("there are no workers to start");
  const Trials* trials = c.trials();
  const double time = recording->achieved.time;
  const double starting = trials
                              ? trials->replay().replayed().first / trials->replay().replayed().achieved.time
                              : recording->starting / time;
  Judgement out;
  const double gain = trials ? trials->gain("persistent") : 0;
  // Without a replay: what training waits for later could not be more than this.
  const double waits_later = (recording->achieved.next - recording->starting) / time;
  const bool dominates = trials ? trials->starting_dominates() : starting >= 0.15 && starting > waits_later;
  out.holds = (trials && trials->worthwhile("persistent")) || dominates;
  out.explains = std::max(saved_by(gain), dominates ? 100 * starting : 0);
  out.evidence = {{"until the first batch of an epoch, of the epochs", 100 * starting, "percent"},
                  {"epochs", static_cast<double>(recording->all_epochs)}};
  out.words = out.holds
                  ? fmt::format("starting workers takes {} of the epochs", human_percent(100 * starting))
                  : fmt::format("until the first batch of an epoch came, {} of the epochs passed",
                                human_percent(100 * starting));
  return out;
}

// One worker's batches take it 1.3 times as long as the others': see slowness_of() of the replay.
Judgement judge_slow_worker(const Case& c) {
  if (!c.trials()) return ruled_out("too few batches to compare workers");
  const auto slow = c.trials()->slow_worker();
  if (!slow) return ruled_out("no worker is clearly slower than the others");
  const double factor = c.recording()->slowness[*slow];
  Judgement out;
  out.holds = c.trials()->worthwhile("slow_worker");
  out.explains = saved_by(c.trials()->gain("slow_worker"));
  out.words =
      fmt::format("worker {} is slow: a batch takes it {:.1f} times as long as the others", *slow, factor);
  out.evidence = {{fmt::format("a batch of worker {}, of one of the others", *slow), factor, "times"}};
  return out;
}

// Batches come in such an order that a longer queue, or none, gains. Without a replay: enough workers on
// average, and training waits all the same.
Judgement judge_uneven(const Case& c) {
  if (c.workers() == 0) return ruled_out("there are no workers, and so no queue");
  Judgement out;
  out.general = true;
  if (c.trials()) {
    const double gain = std::max(c.trials()->gain("prefetch"), c.trials()->gain("in_order"));
    out.holds = gain >= c.trials()->worthwhile();
    out.explains = saved_by(gain);
    out.words =
        out.holds ? "batches come unevenly" : too_small("a longer queue, or one without order,", gain);
    out.evidence = {{"gain of a longer queue or of one without order", gain, "percent"}};
    return out;
  }
  const auto needed = c.needed_workers();
  if (!needed || *needed > c.workers() || !c.waits()) return ruled_out("batches are not enough on average");
  const Series& fetch = c.loader()->fetch;
  const double ratio = fetch.quantile(0.99) / std::max(1.0, fetch.quantile(0.5));
  out.holds = true;
  out.explains = c.waited_percent();
  out.words = fmt::format(
      "{} {} enough on average, batches come unevenly (the slowest 1 % take {:.1f} times the median)",
      workers_text(c.workers()), c.workers() == 1 ? "is" : "are", ratio);
  out.evidence = {{"the slowest 1 % of batches, of the median", ratio, "times"}};
  return out;
}

namespace {

Judgement judge_workers_by_times(const Case& c) {
  const auto needed = c.needed_workers();
  const std::uint64_t present = c.workers();
  if (!needed) return ruled_out("too few batches were trained on to say whether more workers would help");
  const std::uint64_t most = std::max<std::uint64_t>(1, c.servable_workers());
  const std::uint64_t useful = std::min(*needed, most);
  const std::string cores =
      fmt::format("the {} core{} of this machine", c.findings().cores, c.findings().cores == 1 ? "" : "s");
  if (present > 0 && *needed <= present)
    return ruled_out(fmt::format("{} are enough on average: {}", workers_text(present), batch_and_step(c)));
  if (present > 0 && present >= most)
    return ruled_out(fmt::format("{} already fill {}", workers_text(present), cores));
  Judgement out;
  out.general = present > 0;
  out.holds = c.waits();
  // So many workers make batches that many times as quickly; training cannot wait less than not at all.
  const auto before = static_cast<double>(std::max<std::uint64_t>(1, present));
  const auto after = static_cast<double>(useful + (present == 0 ? 1 : 0));
  out.explains = std::min(c.waited_percent(), 100 * (1 - before / after));
  const std::string enough = useful < *needed ? fmt::format("would fill {}", cores) : "would keep up";
  out.words = fmt::format("{}: {}, so {} instead of {} {}",
                          present == 0 ? "the training process makes its batches itself"
                                       : fmt::format("too few workers ({})", present),
                          batch_and_step(c), workers_text(useful), present, enough);
  return out;
}

}  // namespace

// More workers gain, by replay. Without a replay: a batch takes longer to make than all workers have time
// for, and the cores serve more of them.
Judgement judge_workers(const Case& c) {
  if (!c.settings_known())
    return ruled_out(
        "whether more workers would help is unknown: the loader's settings are missing from the trace");
  Judgement out;
  const std::uint64_t present = c.workers();
  if (c.trials()) {
    const double gain = c.trials()->gain("workers");
    out.general = present > 0;
    out.holds = gain >= c.trials()->worthwhile();
    out.explains = saved_by(gain);
    if (!out.holds)
      out.words = c.trials()->find("workers") == nullptr ? "the cores are taken: fetches wait for them"
                                                         : too_small("more workers", gain);
    else
      out.words = present == 0 ? "the training process makes its batches itself"
                               : fmt::format("too few workers ({})", present);
  } else {
    out = judge_workers_by_times(c);
  }
  out.evidence = {{"workers", static_cast<double>(present)},
                  {"cores", static_cast<double>(c.findings().cores)},
                  {"mean time to make a batch", c.mean_fetch() / kNsPerMs, "ms"},
                  {"mean time to train on it", c.mean_step() / kNsPerMs, "ms"}};
  return out;
}

// Batches that are received at no cost gain.
Judgement judge_transfer(const Case& c) {
  if (!c.trials()) return ruled_out("too few batches to tell what receiving them costs");
  Judgement out;
  const double gain = c.trials()->gain("transfer");
  out.general = true;
  out.holds = gain >= c.trials()->worthwhile();
  out.explains = saved_by(gain);
  out.words = out.holds ? "receiving batches takes the time, which fewer and smaller tensors would save"
                        : too_small("receiving at no cost", gain);
  out.evidence = {{"gain of receiving at no cost", gain, "percent"}};
  return out;
}

}  // namespace lotus::analyzer
