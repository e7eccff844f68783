#include "answers/report/verdict_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "answers/stats/core_wait.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

// If training hardly waits, smaller gains are not worth a change.
constexpr double kWorthwhileUnwaitedPercent = 10;
constexpr double kIdleOfLoader = 0.4;   // of the fetch: reading, not computing
constexpr double kDominantOp = 0.6;     // of the fetch
constexpr double kAlmostBest = 0.98;    // of the best gain: prefer the smallest change that reaches it
constexpr double kMuchMore = 0.9;       // of the best rate: prefer a single setting that reaches it
constexpr double kSlowWorker = 1.3;     // fetch time relative to the other workers
constexpr double kStartupShare = 0.15;  // of the epochs
constexpr std::uint64_t kMostWorkers = 32;

std::string times(double factor) { return fmt::format("{:.1f} times", factor); }

struct Candidate {
  const char* action;
  std::string change;  // "4 workers instead of 2"
  Question question;
  double gain = 0;  // percent
};

class Examination {
 public:
  explicit Examination(const Recording& recording)
      : recording_(recording), loader_(recording.loader), replay_(recording) {
    for (const auto& epoch : recording.epochs)
      for (const auto& batch : epoch.batches) {
        fetches_.wall += batch.fetch;
        fetches_.cpu += batch.fetch_cpu;
        fetches_.sleeping += (batch.fetch - batch.fetch_cpu) * batch.sleeping_share();
        if (!batch.core_wait) continue;
        fetches_.told_cpu += batch.fetch_cpu;
        fetches_.core_wait.add(*batch.core_wait, batch.fetch);
      }
  }

  Diagnosis diagnose();

 private:
  void try_all();
  void consider(Candidate candidate) {
    candidate.gain = gain_of(candidate.question);
    candidates_.push_back(std::move(candidate));
  }
  void try_workers();
  void try_prefetch();
  void try_order();
  void try_ops();
  double gain_of(const Question& question) const;
  double gain_of(const char* action) const;
  double worthwhile() const;
  double fetch_share(const RecordedOp& op, double part) const;
  bool starting_dominates() const;
  std::size_t slowest_worker() const;
  Cause cause() const;
  Cause cause_of_no_gain() const;
  Advice advice_of(const Candidate& candidate) const;
  struct Fetches {  // all of them, ns
    double wall = 0, cpu = 0, sleeping = 0;
    CoreWait core_wait;
    double told_cpu = 0;  // of the fetches in core_wait
  };
  double sleeping_share() const;
  double core_wait_percent() const { return fetches_.core_wait.percent().value_or(0); }
  std::string about_fetches() const;
  std::string reason(Cause cause) const;

  const Recording& recording_;
  const Loader& loader_;
  const Replay replay_;
  Fetches fetches_;
  std::vector<Candidate> candidates_;
  std::string top_op_, storage_op_;
  double top_share_ = 0, storage_share_ = 0;  // of the fetch
};

// The gain over the faster of the recorded run and its replay: if the replay is too slow, a change that only
// makes up for that is no gain.
double Examination::gain_of(const Question& question) const {
  const double now = std::max(replay_.replayed().achieved.images_per_s(), recording_.achieved.images_per_s());
  return now > 0 ? 100 * (replay_.ask(question).achieved.images_per_s() / now - 1) : 0;
}

double Examination::gain_of(const char* action) const {
  double best = 0;
  for (const auto& candidate : candidates_)
    if (std::string_view(candidate.action) == action) best = std::max(best, candidate.gain);
  return best;
}

double Examination::worthwhile() const {
  const bool waits = recording_.achieved.waited_percent() >= kInputBoundPercent || starting_dominates();
  const double least = waits ? kWorthwhilePercent : kWorthwhileUnwaitedPercent;
  return std::max(least, std::abs(replay_.rate_error_percent()));
}

// The fewest workers that are almost as good as the best number.
void Examination::try_workers() {
  std::vector<std::pair<std::uint64_t, double>> gains;
  double best = 0;
  for (std::uint64_t more = 1; loader_.workers + more <= kMostWorkers; more += more < 8 ? 1 : 4) {
    Question question;
    question.workers = loader_.workers + more;
    gains.emplace_back(*question.workers, gain_of(question));
    best = std::max(best, gains.back().second);
  }
  for (const auto& [workers, gain] : gains) {
    if (100 + gain < kAlmostBest * (100 + best)) continue;
    Question question;
    question.workers = workers;
    const char* plural = workers == 1 ? "" : "s";
    return consider(
        {"workers", fmt::format("{} worker{} instead of {}", workers, plural, loader_.workers), question});
  }
}

void Examination::try_prefetch() {
  if (loader_.workers == 0) return;
  const std::uint64_t now = settings_of(recording_, {}).prefetch;
  double best = 0;
  std::uint64_t chosen = 2 * now;
  for (const std::uint64_t times_more : {2, 4, 8}) {
    Question question;
    question.prefetch = now * times_more;
    const double gain = gain_of(question);
    if (kAlmostBest * (100 + gain) <= 100 + best) continue;
    best = gain;
    chosen = *question.prefetch;
  }
  Question question;
  question.prefetch = chosen;
  consider({"prefetch", fmt::format("prefetch_factor={} instead of {}", chosen, now), question});
}

void Examination::try_order() {
  if (loader_.workers > 1 && loader_.in_order) {
    Question question;
    question.in_order = false;
    consider({"in_order", "in_order=False", question});
  }
  if (loader_.workers > 0 && !loader_.keeps_workers() && recording_.all_epochs > 1) {
    Question question;
    question.persistent = true;
    const bool once = loader_.made <= 1;
    consider({"persistent", once ? "persistent_workers=True" : "keeping the loader, persistent_workers=True",
              question});
  }
  const std::size_t slow = slowest_worker();
  if (slow >= recording_.slowness.size()) return;
  Question question;
  question.even_workers = true;
  consider({"slow_worker", fmt::format("worker {} as fast as the others", slow), question});
}

// The share of an operation in the mean fetch; `part`: of the operation, 1 for all of it.
double Examination::fetch_share(const RecordedOp& op, double part) const {
  double inside = 0;
  double whole = 0;
  for (const auto& epoch : recording_.epochs)
    for (const auto& batch : epoch.batches) {
      whole += batch.fetch;
      for (const OpTime& time : batch.ops)
        if (recording_.ops[time.op].name == op.name && recording_.ops[time.op].role == op.role)
          inside += time.ns;
    }
  return whole > 0 ? part * inside / whole : 0;
}

void Examination::try_ops() {
  for (const auto& op : recording_.ops) {
    if (op.calls == 0) continue;
    const double share = fetch_share(op, 1);
    if (share > top_share_) {
      top_share_ = share;
      top_op_ = op.name;
    }
    const double idle =
        (1 - op.cpu.share().value_or(1)) * sleeping_share() * replay_.calibration().fetch_idle;
    if (op.role != OpRole::loader || fetch_share(op, idle) < kIdleOfLoader) continue;
    storage_share_ = fetch_share(op, idle);
    storage_op_ = op.name;
  }
  if (!storage_op_.empty()) {
    Question question;
    question.ops.push_back({storage_op_, {.factor = 0, .ns = {}}, true});
    consider({"storage", "reading that takes no time", question});
  }
  if (top_op_.empty()) return;
  Question question;
  question.ops.push_back({top_op_, {.factor = 0.5, .ns = {}}, false});
  consider({"op", fmt::format("{} in half the time", escaped(top_op_)), question});
}

void Examination::try_all() {
  try_workers();
  try_prefetch();
  try_order();
  try_ops();
  Question received;
  received.instant_receive = true;
  consider({"transfer", "batches that are received in no time", received});
  Question question;
  question.step.factor = 0.5;
  consider({"train_step", "a training step of half the time", question});
}

// The share of sleeping in the time in which fetches do not compute. The rest is known to be waiting for a
// core.
double Examination::sleeping_share() const {
  const Fetches& sum = fetches_;
  return sum.wall > sum.cpu ? sum.sleeping / (sum.wall - sum.cpu) : 1;
}

// Facts about fetches that decide whether more workers than cores can help.
std::string Examination::about_fetches() const {
  const Fetches& sum = fetches_;
  if (sum.wall <= 0) return {};
  const auto percent = [](double cpu, double wall) { return human_percent(100 * std::min(1.0, cpu / wall)); };
  const double waiting = core_wait_percent();
  if (waiting < kTellsOfCoresPercent)
    return fmt::format(" (a fetch computes for {} of its time)", percent(sum.cpu, sum.wall));
  return fmt::format(
      " (a fetch computes for {} of its time, and waits for a core for {}: the machine is busy)",
      percent(sum.told_cpu, sum.core_wait.wall), human_percent(waiting));
}

std::size_t Examination::slowest_worker() const {
  const auto& slowness = recording_.slowness;
  const auto slowest = std::max_element(slowness.begin(), slowness.end());
  const bool slow = slowest != slowness.end() && *slowest >= kSlowWorker;
  return slow ? static_cast<std::size_t>(slowest - slowness.begin()) : slowness.size();
}

// Whether epochs lose more time before their first batch than by waiting for all later ones.
bool Examination::starting_dominates() const {
  const ReplayOutcome& run = replay_.replayed();
  return run.first > kStartupShare * run.achieved.time && run.first > run.achieved.next - run.first_wait;
}

// The cause if no change of the loader helps: training, if the loader could feed a faster one.
Cause Examination::cause_of_no_gain() const {
  Question instant;
  instant.step.factor = 0;
  return gain_of(instant) >= 50 ? Cause::training : Cause::balanced;
}

Cause Examination::cause() const {
  const double enough = worthwhile();
  double best = 0;
  for (const auto& candidate : candidates_)
    if (std::string_view(candidate.action) != "train_step") best = std::max(best, candidate.gain);
  if (recording_.achieved.waited_percent() < kInputBoundPercent && best < enough) return cause_of_no_gain();
  // Persistent workers are a single setting: prefer them unless another change gains much more.
  const double by_keeping = gain_of("persistent");
  if (by_keeping >= enough && 100 + by_keeping >= kMuchMore * (100 + best)) return Cause::startup;
  if (starting_dominates()) return Cause::startup;
  if (loader_.workers == 0) return Cause::workers;
  if (gain_of("slow_worker") >= enough) return Cause::slow_worker;
  if (gain_of("storage") >= enough) return Cause::storage;
  const bool by_loader = std::any_of(recording_.ops.begin(), recording_.ops.end(), [&](const RecordedOp& op) {
    return op.name == top_op_ && op.role == OpRole::loader;
  });
  const double by_workers = gain_of("workers");
  // If the operation mostly sleeps or reads, and more workers gain as much, prefer more workers: a setting is
  // easier to change than an operation.
  const bool computes = std::any_of(recording_.ops.begin(), recording_.ops.end(), [&](const RecordedOp& op) {
    return op.name == top_op_ && op.cpu.share().value_or(1) >= 0.5;
  });
  const double by_op = gain_of("op");
  if (top_share_ >= kDominantOp && !by_loader && by_op >= enough && (computes || by_op >= by_workers))
    return Cause::op;
  if (gain_of("prefetch") >= enough && gain_of("prefetch") >= kAlmostBest * by_workers) return Cause::uneven;
  if (by_workers >= enough) return Cause::workers;
  if (gain_of("op") >= enough) return Cause::op;
  if (gain_of("prefetch") >= enough || gain_of("in_order") >= enough) return Cause::uneven;
  return gain_of("transfer") >= enough ? Cause::transfer : cause_of_no_gain();
}

const char* action_for(Cause cause) {
  switch (cause) {
    case Cause::training:
      return "train_step";
    case Cause::balanced:
      return "none";
    case Cause::workers:
      return "workers";
    case Cause::op:
      return "op";
    case Cause::storage:
      return "storage";
    case Cause::slow_worker:
      return "slow_worker";
    case Cause::startup:
      return "persistent";
    case Cause::uneven:
      return "prefetch";
    case Cause::transfer:
      return "transfer";
  }
  return "none";
}

std::string Examination::reason(Cause cause) const {
  switch (cause) {
    case Cause::training:
      return "training is the limit, nothing is to be gained in the loader";
    case Cause::balanced:
      if (recording_.achieved.waited_percent() >= kInputBoundPercent)
        return "no single change that was tried gains more than the replay is uncertain by";
      return "loader and training keep pace with each other: there is nothing to gain";
    case Cause::workers:
      return loader_.workers == 0 ? "the training process makes its batches itself"
                                  : fmt::format("too few workers ({})", loader_.workers);
    case Cause::op:
      return fmt::format("{} takes {} of the time in which a batch is made", escaped(top_op_),
                         human_percent(100 * top_share_));
    case Cause::storage:
      return fmt::format(
          "storage is slow: {} of the time in which a batch is made, {} reads and does not compute",
          human_percent(100 * storage_share_), escaped(storage_op_));
    case Cause::slow_worker:
      return fmt::format("worker {} is slow: a batch takes it {} as long as the others", slowest_worker(),
                         times(recording_.slowness[slowest_worker()]));
    case Cause::startup:
      return fmt::format("starting workers takes {} of the epochs",
                         human_percent(100 * replay_.replayed().first / replay_.replayed().achieved.time));
    case Cause::uneven:
      return "batches come unevenly";
    case Cause::transfer:
      return "receiving batches takes the time, which fewer and smaller tensors would save";
  }
  return {};
}

Advice Examination::advice_of(const Candidate& candidate) const {
  Advice advice;
  advice.action = candidate.action;
  advice.prediction = replay_.predict(candidate.question);
  advice.change = candidate.change;
  advice.gain_percent = candidate.gain;
  advice.workers = candidate.question.workers;
  const Achieved& now = recording_.achieved;  // as the tables show it; the gain is relative to the replay
  const Achieved& then = advice.prediction.achieved;
  const double waited = std::min(now.waited_percent(), replay_.replayed().achieved.waited_percent());
  const bool less = then.waited_percent() < waited - 0.5;
  const std::string wait =
      less ? fmt::format("cut the wait from {} to {}:", human_percent(now.waited_percent()),
                         human_percent(then.waited_percent()))
           : std::string("give");
  advice.message = fmt::format("{} would {} {} instead of {} images/s", candidate.change, wait,
                               human_rate(then.images_per_s()), human_rate(now.images_per_s()));
  return advice;
}

Diagnosis Examination::diagnose() {
  try_all();
  Diagnosis diagnosis;
  diagnosis.rate_error_percent = replay_.rate_error_percent();
  diagnosis.waited_error = replay_.waited_error();
  diagnosis.cause = cause();
  std::string_view wanted = action_for(diagnosis.cause);
  if (diagnosis.cause == Cause::uneven && gain_of("in_order") > gain_of("prefetch")) wanted = "in_order";
  std::stable_sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
    const bool first = a.action == wanted;
    const bool second = b.action == wanted;
    return first != second ? first : a.gain > b.gain;
  });
  const std::string why = reason(diagnosis.cause);
  const bool balanced = diagnosis.cause == Cause::balanced;
  const bool input = diagnosis.cause != Cause::training;
  for (const auto& candidate : candidates_) {
    const bool of_training = std::string_view(candidate.action) == "train_step";
    if (balanced || input == of_training || (candidate.action != wanted && candidate.gain < worthwhile()))
      continue;
    diagnosis.advice.push_back(advice_of(candidate));
  }
  if (diagnosis.advice.empty())
    diagnosis.advice.push_back({"none", why, balanced ? "nothing to gain" : why, replay_.predict({}), 0});
  Advice& first = diagnosis.advice.front();
  if (first.message != why) first.message = why + ": " + first.message;
  // More workers than cores may be useless, so advice about workers says how much fetches compute. If other
  // programs use the cores, the first advice says so, whatever it is.
  const bool busy = input && core_wait_percent() >= kTellsOfCoresPercent;
  for (Advice& advice : diagnosis.advice)
    if ((advice.action == "workers" && loader_.workers > 0) || (busy && &advice == &first))
      advice.message += about_fetches();
  return diagnosis;
}

}  // namespace

std::optional<Diagnosis> diagnosis_of(const Recording& recording) {
  if (recording.kept() < kFewestToReplay || !recording.seen()) return std::nullopt;
  return Examination(recording).diagnose();
}

const char* name_of(Cause cause) {
  static constexpr const char* kNames[] = {"training",    "balanced", "workers", "op",      "storage",
                                           "slow_worker", "startup",  "uneven",  "transfer"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Cause::transfer) + 1, "a name for each cause");
  return kNames[static_cast<std::size_t>(cause)];
}

}  // namespace lotus::analyzer
