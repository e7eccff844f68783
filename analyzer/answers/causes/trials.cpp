#include "answers/causes/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "answers/replay/torch_version.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

constexpr double kIdleOfLoader = 0.4;   // of the fetch: reading, not computing
constexpr double kAlmostBest = 0.98;    // of the best rate: prefer the smallest change that reaches it
constexpr double kStartupShare = 0.15;  // of the epochs
constexpr std::uint64_t kMostWorkers = 32;

}  // namespace

Trials::Trials(const Recording& recording)
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
  try_workers();
  try_fewer_workers();
  try_lock();
  try_prefetch();
  try_order();
  try_persistent();
  try_ops();
  try_own_code();
  try_rest();
}

void Trials::consider(Trial trial) {
  trial.gain = gain_of(trial.question);
  all_.push_back(std::move(trial));
}

double Trials::gain_of(const Question& question) const {
  const double now = std::max(replay_.replayed().achieved.images_per_s(), recording_.achieved.images_per_s());
  return now > 0 ? 100 * (replay_.ask(question).achieved.images_per_s() / now - 1) : 0;
}

const Trial* Trials::find(std::string_view action) const {
  const Trial* best = nullptr;
  for (const auto& trial : all_)
    if (trial.action == action && (best == nullptr || trial.gain > best->gain)) best = &trial;
  return best;
}

double Trials::gain(std::string_view action) const {
  const Trial* trial = find(action);
  return trial == nullptr ? 0 : std::max(0.0, trial->gain);
}

double Trials::explained_by(const std::string& op) const { return saved_by(gain_of(change_of(op, 0))); }

Question Trials::change_of(const std::string& op, double factor) const {
  Question question;
  const bool top = op == top_op_.name;
  for (const std::string& name : top ? changed_ops_ : std::vector{op})
    question.ops.push_back({name, {.factor = factor, .ns = {}}, false});
  return question;
}

double Trials::worthwhile() const {
  const bool waits = recording_.achieved.waited_percent() >= kInputBoundPercent || starting_dominates();
  const double least = waits ? kWorthwhilePercent : kWorthwhileUnwaitedPercent;
  return std::max(least, std::abs(replay_.rate_error_percent()));
}

// The first batch of an epoch takes as long to make as any: that is no start.
double Trials::starting() const {
  const ReplayOutcome& run = replay_.replayed();
  return std::max(0.0, run.first - static_cast<double>(recording_.all_epochs) * run.fetch);
}

bool Trials::starting_dominates() const {
  const ReplayOutcome& run = replay_.replayed();
  return starting() > kStartupShare * run.achieved.time && starting() > run.achieved.next - run.first_wait;
}

// The most workers that are tried.
std::uint64_t Trials::most_workers() const {
  const double waiting = core_wait_percent();
  if (loader_.workers > 0 && waiting >= kCoresShortPercent) return loader_.workers;
  if (waiting < kTellsOfCoresPercent || recording_.cores <= 0) return kMostWorkers;
  const double running = fetches_.core_wait.wall - fetches_.core_wait.waited;
  const double computing = running > 0 ? std::clamp(fetches_.told_cpu / running, 0.01, 1.0) : 1;
  const auto served = static_cast<std::uint64_t>(recording_.cores / computing);
  return std::clamp<std::uint64_t>(served, std::max<std::uint64_t>(1, loader_.workers), kMostWorkers);
}

// The fewest workers that are almost as good as the best number.
void Trials::try_workers() {
  // Of an iterable dataset, each worker has a part of the samples of its own: what another worker would get,
  // and whether that would be less for the slow one, is not known.
  if (recording_.iterable && slow_worker()) return;
  if (taking_turns(recording_)) return;  // another worker would wait for its turn, too
  std::vector<std::pair<std::uint64_t, double>> gains;
  double best = 0;
  const std::uint64_t most = most_workers();
  for (std::uint64_t more = 1; loader_.workers + more <= most; more += more < 8 ? 1 : 4) {
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

// One for each core, where more of them keep each other waiting.
void Trials::try_fewer_workers() {
  if (recording_.cores <= 0 || core_wait_percent() < kCoresShortPercent) return;
  const auto cores = static_cast<std::uint64_t>(std::max(1.0, recording_.cores));
  if (loader_.workers <= cores) return;
  Question question;
  question.workers = cores;
  consider({"fewer_workers",
            fmt::format("{} worker{} instead of {}", cores, cores == 1 ? "" : "s", loader_.workers),
            question});
}

void Trials::try_lock() {
  if (replay_.calibration().held == 0) return;  // none that workers share is known
  Question question;
  question.no_lock = true;
  consider({"lock", "a lock that no worker has to wait for", question});
}

void Trials::try_prefetch() {
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

// in_order came with PyTorch 2.6. The batches of an iterable dataset belong to the worker that has its part
// of the samples: another one cannot make them, so order is not what holds them up.
void Trials::try_order() {
  const bool can = recording_.torch.empty() || torch_version(recording_.torch) >= kInOrderSince;
  if (can && loader_.workers > 1 && loader_.in_order && !recording_.iterable) {
    Question question;
    question.in_order = false;
    consider({"in_order", "in_order=False", question});
  }
  const auto slow = slow_worker();
  if (!slow) return;
  Question question;
  question.even_workers = true;
  consider({"slow_worker", fmt::format("worker {} as fast as the others", *slow), question});
}

void Trials::try_persistent() {
  if (loader_.workers == 0 || loader_.keeps_workers() || recording_.all_epochs <= 1) return;
  Question question;
  question.persistent = true;
  const bool once = loader_.made <= 1;
  consider({"persistent", once ? "persistent_workers=True" : "keeping the loader, persistent_workers=True",
            question});
}

// The share of an operation in the mean fetch; `part`: of the operation, 1 for all of it.
double Trials::fetch_share(const RecordedOp& op, double part) const {
  double inside = 0;
  for (const auto& epoch : recording_.epochs)
    for (const auto& batch : epoch.batches)
      for (const OpTime& time : batch.ops)
        if (recording_.ops[time.op].name == op.name && recording_.ops[time.op].role == op.role)
          inside += time.ns;
  return fetches_.wall > 0 ? part * inside / fetches_.wall : 0;
}

void Trials::try_ops() {
  for (const auto& op : recording_.ops) {
    if (op.calls == 0) continue;
    const double share = fetch_share(op, 1);
    // What runs once a worker is a part of starting it: keeping the workers saves it.
    if (op.first_only && recording_.all_epochs > 1 && !loader_.keeps_workers()) {
      if (share > starting_op_.share) starting_op_ = {op.name, share, false, op.role, {}, 0};
      continue;
    }
    const double computes = op.cpu.share().value_or(1);
    if (share > top_op_.share) top_op_ = {op.name, share, computes >= kComputes, op.role, op.library, 0};
    const double idle = (1 - computes) * sleeping_share() * replay_.calibration().fetch_idle;
    if (op.role != OpRole::loader || fetch_share(op, idle) < kIdleOfLoader) continue;
    reading_ = {op.name, fetch_share(op, idle), false, op.role, {}, 0};
  }
  if (!reading_.name.empty()) {
    Question question;
    question.ops.push_back({reading_.name, {.factor = 0, .ns = {}}, true});
    consider({"storage", "reading that takes no time", question});
  }
  if (top_op_.name.empty()) return;
  for (const auto& op : recording_.ops) {
    if (top_op_.library.empty() || op.library != top_op_.library || op.calls == 0) continue;
    changed_ops_.push_back(op.name);
    top_op_.library_share += fetch_share(op, 1);
  }
  if (!top_op_.tells_of_library()) changed_ops_ = {top_op_.name};
  const std::string& name = top_op_.tells_of_library() ? top_op_.library : top_op_.name;
  consider({"op", fmt::format("{} in half the time", escaped(name)), change_of(top_op_.name, 0.5)});
}

void Trials::try_own_code() {
  OwnCode own;
  for (const auto& epoch : recording_.epochs)
    for (const auto& batch : epoch.batches) {
      const OwnCode part = own_code_of(recording_, batch);
      own.wall += part.wall;
      own.cpu += part.cpu;
    }
  if (fetches_.wall <= 0 || own.wall <= 0) return;
  const bool computes = std::max(0.0, own.cpu) >= kComputes * own.wall;
  own_code_ = {kOwnCode, own.wall / fetches_.wall, computes, OpRole::frame, {}, 0};
  Question question;
  question.ops.push_back({kOwnCode, {.factor = 0.5, .ns = {}}, false});
  consider({"own_code", "the dataset's own code in half the time", question});
}

void Trials::try_rest() {
  Question received;
  const bool piped = through_pipe();
  (piped ? received.shared_memory : received.instant_receive) = true;
  consider(
      {"transfer",
       piped ? "batches of tensors, which go through shared memory" : "batches that are received in no time",
       received});
  Question sampled;
  sampled.instant_own = true;
  consider({"sampler", "a sampler that takes no time", sampled});
  Question question;
  question.step.factor = 0.5;
  consider({"train_step", "a training step of half the time", question});
}

// The share of sleeping in the time in which fetches do not compute. The rest is known to be waiting for a
// core.
double Trials::sleeping_share() const {
  const Fetches& sum = fetches_;
  return sum.wall > sum.cpu ? sum.sleeping / (sum.wall - sum.cpu) : 1;
}

std::string Trials::about_fetches(double waiting) const {
  const Fetches& sum = fetches_;
  if (sum.wall <= 0) return {};
  const auto percent = [](double cpu, double wall) { return 100 * std::min(1.0, cpu / wall); };
  if (waiting < kTellsOfCoresPercent || sum.core_wait.wall <= 0)
    return fmt::format(" (a fetch computes for {} of its time)", human_percent(percent(sum.cpu, sum.wall)));
  // The thread's waits are measured; its helpers may compute meanwhile.
  const double computing = std::min(percent(sum.told_cpu, sum.core_wait.wall), 100 - waiting);
  return fmt::format(
      " (a fetch computes for {} of its time, and waits for a core for {}: the machine is busy)",
      human_percent(computing), human_percent(waiting));
}

double Trials::of_a_quarter(double RecordedBatch::*part) const {
  std::vector<double> all;
  for (const auto& epoch : recording_.epochs)
    for (const auto& batch : epoch.batches) all.push_back(batch.*part);
  if (all.empty()) return 0;
  const auto found = all.end() - 1 - static_cast<std::ptrdiff_t>(all.size() / 4);
  std::nth_element(all.begin(), found, all.end());
  return *found;
}

double Trials::mean_of(double RecordedBatch::*part) const {
  double sum = 0;
  double count = 0;
  for (const auto& epoch : recording_.epochs)
    for (const auto& batch : epoch.batches) {
      sum += batch.*part;
      ++count;
    }
  return count > 0 ? sum / count : 0;
}

std::optional<std::size_t> Trials::slow_worker() const {
  const auto& slowness = recording_.slowness;
  const auto slowest = std::max_element(slowness.begin(), slowness.end());
  if (slowest == slowness.end() || *slowest < kSlowWorker) return std::nullopt;
  return static_cast<std::size_t>(slowest - slowness.begin());
}

}  // namespace lotus::analyzer
