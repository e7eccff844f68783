#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "answers/causes/rows.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

std::string cores_text(const Case& c) {
  return fmt::format("{} core{}", c.findings().cores, c.findings().cores == 1 ? "" : "s");
}

// Fetches wait for a core for this share of their time: the cores are not enough for all that want one.
constexpr double kCoresShort = 25;

}  // namespace

// Threads that help workers (pools of OpenMP, OpenCV and others) use a fifth of the workers' CPU time, and
// workers times threads are more than twice the cores, so that they wait for each other to get one.
Judgement judge_threads(const Case& c) {
  constexpr double kLeastShare = 0.2;
  constexpr double kTooMany = 2;  // threads for each core
  const SampledCpu& cpu = c.findings().sampled;
  if (c.workers() == 0) return ruled_out("there are no workers");
  if (cpu.workers <= 0) return ruled_out("no stack samples say which threads worked");
  const double share = cpu.by_helpers / cpu.workers;
  const auto threads = static_cast<double>((cpu.most_threads + 1) * c.workers());
  const auto cores = static_cast<double>(c.findings().cores);
  Judgement out;
  out.holds = c.waits() && share >= kLeastShare && cores > 0 && threads > kTooMany * cores &&
              c.core_wait_percent() >= kTellsOfCoresPercent;
  out.explains = c.waited_percent() * std::max(share, c.core_wait_percent() / 100);
  out.words =
      out.holds
          ? fmt::format("in each of {} workers up to {} threads compute, for {}: they wait for each other",
                        c.workers(), cpu.most_threads + 1, cores_text(c))
          : fmt::format("threads that help a worker took {} of the workers' CPU time",
                        human_percent(100 * share));
  out.evidence = {{"threads that help, of the workers' CPU time", 100 * share, "percent"},
                  {"helping threads of one worker, at most", static_cast<double>(cpu.most_threads)},
                  {"cores", cores},
                  {"fetches wait for a core", c.core_wait_percent(), "percent"}};
  return out;
}

// Several threads that make batches want each core. Measured with workers that compute: two workers for each
// core cost a tenth, four a seventh, twelve half of what one for each makes. From three on it is told.
Judgement judge_oversubscribed(const Case& c) {
  constexpr double kTooMany = 3;  // for each core
  const auto cores = static_cast<double>(c.findings().cores);
  const auto wanted = c.wanted_cores();
  if (!wanted || cores <= 0) return ruled_out("how long fetches waited for a core was not recorded");
  Judgement out;
  const double each = *wanted / cores;
  out.holds = c.waits() && static_cast<double>(c.workers()) > cores && each >= kTooMany;
  out.explains = c.waited_percent() * c.core_wait_percent() / 100;
  const auto useful = static_cast<std::uint64_t>(std::max(1.0, cores));
  out.words = out.holds
                  ? fmt::format(
                        "{} workers want {}: fetches wait for a core for {} of their time; {} worker{} "
                        "would do, and start sooner",
                        c.workers(), cores_text(c), human_percent(c.core_wait_percent()), useful,
                        useful == 1 ? "" : "s")
                  : fmt::format("{} threads that make batches want each core, on average", human_rate(each));
  out.evidence = {{"workers", static_cast<double>(c.workers())},
                  {"cores", cores},
                  {"threads that make batches and want a core, for each core", each},
                  {"fetches wait for a core", c.core_wait_percent(), "percent"}};
  return out;
}

// Workers make their samples one after the other, and do not compute meanwhile: they wait for one lock, or
// for one thing that serves one at a time. See taking_turns().
Judgement judge_lock(const Case& c) {
  if (c.recording() == nullptr || c.workers() < 2) return ruled_out("there are not several workers");
  const TakingTurns& turns = c.recording()->turns;
  if (turns.gaps == 0) return ruled_out("too few samples to tell whether workers wait for each other");
  const double close = 100 * static_cast<double>(turns.close) / static_cast<double>(turns.gaps);
  if (!taking_turns(*c.recording()))
    return ruled_out(
        fmt::format("workers do not wait for each other: {} of the samples end close after another "
                    "worker's",
                    human_percent(close)));
  Judgement out;
  out.holds = c.waits();
  const auto workers = static_cast<double>(c.workers());
  out.explains = std::min(c.waited_percent(), 100 * (1 - 1 / workers));
  out.words = fmt::format(
      "the {} workers take turns, as if all needed one lock: only {} of the samples end close "
      "after another worker's",
      c.workers(), human_percent(close));
  out.evidence = {{"samples that end close after another worker's", close, "percent"},
                  {"workers", workers},
                  {"fetches compute", 100 * c.findings().fetch_cpu_share().value_or(0), "percent"}};
  return out;
}

// Fetches wait for a core for a quarter of their time more than the program's own workers explain by waiting
// for each other, and the program uses less than three quarters of the cores: others use them. What would
// hold up training on a quiet machine as well is told before.
Judgement judge_crowded(const Case& c) {
  constexpr double kMostUsed = 0.75;
  constexpr double kKeepsUp = 1.15;  // of a step: training waits for less than 15 %
  const auto used = c.used_share();
  const auto wanted = c.wanted_cores();
  if (!wanted) return ruled_out("how long fetches waited for a core was not recorded");
  if (!used) return ruled_out("no stack samples say how much CPU time the program used");
  const double own = 100 * std::max(0.0, 1 - static_cast<double>(c.findings().cores) / *wanted);
  const double by_others = c.core_wait_percent() - own;
  Judgement out;
  // Whether the workers would keep up with training if none of the others ran.
  const double alone =
      c.mean_fetch() * (1 - by_others / 100) / static_cast<double>(std::max<std::uint64_t>(1, c.workers()));
  out.general = true;
  out.aside = alone > kKeepsUp * c.mean_step();
  out.holds = c.waits() && by_others >= kCoresShort && *used < kMostUsed;
  out.explains = c.waited_percent() * std::max(0.0, by_others) / 100;
  out.words = fmt::format(
      "{} of the time in which a batch is made is waiting for a core, and the program itself uses {} of {}",
      human_percent(c.core_wait_percent()), human_percent(100 * *used), cores_text(c));
  if (out.holds) out.words += ": other programs use the machine";
  out.evidence = {{"fetches wait for a core", c.core_wait_percent(), "percent"},
                  {"cores that the program itself used", 100 * *used, "percent"}};
  return out;
}

// All processes stood still at once: see Activity. At least a twentieth of training's time.
Judgement judge_suspended(const Case& c) {
  constexpr double kLeastPercent = 5;
  double sum = 0;
  for (const Standstill& standstill : c.findings().standstills) sum += standstill.ns;
  if (sum <= 0) return ruled_out("there is no time in which all processes stood still");
  Judgement out;
  const double whole = std::max(c.training_time(), c.findings().loop);
  out.explains = whole > 0 ? std::min(100.0, 100 * sum / whole) : 0;
  out.holds = out.explains >= kLeastPercent;
  const std::size_t times = c.findings().standstills.size();
  out.words = fmt::format("no process of the program ran for {}{}: it was suspended, or its machine was",
                          human_time(sum), times > 1 ? fmt::format(", {} times", times) : "");
  out.evidence = {{"all processes stood still", sum / kNsPerS, "s"}, {"times", static_cast<double>(times)}};
  return out;
}

}  // namespace lotus::analyzer
