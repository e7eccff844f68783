#include "answers/replay/plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lotus::analyzer {
namespace {

// Assumed if nothing was recorded: the time to fork and start a worker, and to transfer a batch.
constexpr double kStartOfWorker = 20e6;
constexpr double kTransfer = 1e6;
constexpr std::uint32_t kMostSlices = 8;

// Applies one question to the recorded costs.
class Planner {
 public:
  Planner(const Recording& recording, const Question& question, const Calibration& calibration,
          const Doubt& doubt);
  Plan plan();

 private:
  struct Effect {
    double wall = 0, cpu = 0;  // changes, as factors of the time in the op
  };

  PlannedEpoch epoch_of(const RecordedEpoch& recorded, bool fresh, std::uint64_t most);
  // `kept`: its worker is there already, where it was new in the recording.
  PlannedBatch batch_of(const RecordedBatch& batch, bool kept) const;
  double receive_of(const RecordedBatch& batch, double cpu) const;
  double pause_of(const RecordedBatch& batch) const;
  PlannedStep step_of(const RecordedStep& step) const;
  void set_ends(const RecordedEpoch& recorded, bool fresh, PlannedEpoch& epoch) const;
  Effect effect_of(const RecordedOp& op) const;
  void change_own_code(const RecordedBatch& batch, double working, double& wall, double& cpu) const;
  bool never_crowded() const;

  const Recording& recording_;
  const Question& question_;
  const Calibration& calibration_;
  const Doubt& doubt_;
  Settings settings_;
  std::vector<Effect> effects_;  // by op
  double step_factor_ = 1;
  bool crowded_ = true;
  double quickest_receive_ = 0;
};

double threads_of(const RecordedStep& step) {
  return step.wall > 0 ? std::max(1.0, std::ceil(step.cpu / step.wall - 0.1)) : 1;
}

double quickest_receive(const Recording& recording) {
  double quickest = 1e300;
  for (const auto& epoch : recording.epochs)
    for (const auto& batch : epoch.batches) quickest = std::min(quickest, batch.receive);
  return quickest;
}

Planner::Planner(const Recording& recording, const Question& question, const Calibration& calibration,
                 const Doubt& doubt)
    : recording_(recording),
      question_(question),
      calibration_(calibration),
      doubt_(doubt),
      settings_(settings_of(recording, question)),
      step_factor_(question.step.of(mean_step(recording))) {
  for (const auto& op : recording.ops) effects_.push_back(effect_of(op));
  crowded_ = !never_crowded();
  quickest_receive_ = quickest_receive(recording);
}

// A worker that waited for an index had paused for less than until it came.
double Planner::pause_of(const RecordedBatch& batch) const {
  const double usual = recording_.overheads.between;
  return batch.waited ? std::min(usual, *batch.pause) : batch.pause.value_or(usual);
}

// Training asks the worker for the memory of a batch. One that computes in Python has its interpreter's lock,
// and answers late: what receiving takes beyond the quickest one goes with what the fetch, now of `cpu`,
// computes.
double Planner::receive_of(const RecordedBatch& batch, double cpu) const {
  if (batch.fetch_cpu <= 0) return batch.receive;
  const double late = batch.receive - quickest_receive_;
  return quickest_receive_ + late * std::clamp(cpu / batch.fetch_cpu, 0.0, 1.0);
}

Planner::Effect Planner::effect_of(const RecordedOp& op) const {
  Effect effect;
  for (const auto& change : question_.ops) {
    if (change.name != op.name || op.calls == 0) continue;
    const double factor = change.change.of(mean_of_op(recording_, op.name).value_or(0));
    const double share = std::min(1.0, op.cpu.share().value_or(1));
    effect.wall = (factor - 1) * (change.only_idle ? 1 - share : 1);
    effect.cpu = change.only_idle ? 0 : (factor - 1) * share;
  }
  return effect;
}

void Planner::change_own_code(const RecordedBatch& batch, double working, double& wall, double& cpu) const {
  for (const auto& change : question_.ops) {
    if (change.name != kOwnCode) continue;
    const OwnCode own = own_code_of(recording_, batch);
    const double most = std::max(0.0, own.wall) * working;
    const double factor = change.change.of(own.wall * working);
    wall += (factor - 1) * most;
    cpu += (factor - 1) * std::clamp(own.cpu, 0.0, most);
  }
}

// Computing and sleeping need not be interleaved if each process has a core.
bool Planner::never_crowded() const {
  double threads = 1;
  for (const auto& epoch : recording_.epochs)
    for (const auto& step : epoch.steps) threads = std::max(threads, threads_of(step));
  return static_cast<double>(settings_.workers) + threads <= settings_.cores;
}

PlannedBatch Planner::batch_of(const RecordedBatch& batch, bool kept) const {
  const double slow = batch.worker < recording_.slowness.size() ? recording_.slowness[batch.worker] : 1;
  const double idle = batch.rest() * (doubt_.independent ? 1 : 1 - calibration_.lock_wait);
  double cpu = batch.fetch_cpu;
  double wall = cpu + idle;
  // Where in the fetch it waits for the lock is not known: its operations do so by their time.
  const double working = batch.fetch > 0 ? std::min(1.0, wall / batch.fetch) : 1;
  for (const OpTime& time : batch.ops) {
    wall += effects_[time.op].wall * time.ns * working;
    cpu += effects_[time.op].cpu * time.ns;
    const RecordedOp& op = recording_.ops[time.op];
    if (!kept || !op.first_only) continue;
    wall -= time.ns;
    cpu -= time.ns * std::min(1.0, op.cpu.share().value_or(1));
  }
  change_own_code(batch, working, wall, cpu);
  const double factor = question_.fetch.of(batch.fetch * working);
  wall *= factor;
  cpu *= factor;
  PlannedBatch out;
  out.cpu = std::max(0.0, cpu) / slow;
  out.idle = std::max(0.0, wall / slow - out.cpu) * batch.sleeping_share(calibration_.sleeping) *
             doubt_.idle * calibration_.fetch_idle;
  out.cpu *= calibration_.crowding * doubt_.computing;
  out.held = question_.no_lock || doubt_.independent ? 0 : calibration_.held;
  if (out.held > 0 || (crowded_ && out.cpu > 0 && out.idle > 0))
    out.slices = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(batch.samples, 1, kMostSlices));
  const double assumed = kTransfer * doubt_.assumed;
  const double transfer = recording_.transfer_known ? batch.transfer * calibration_.overheads : assumed;
  out.transfer_cpu = recording_.transfer_known ? batch.transfer_cpu * calibration_.overheads : assumed;
  out.transfer_idle = transfer - out.transfer_cpu;
  if (recording_.transfer_known && batch.pipe >= kThroughPipe) {  // the rest was waiting for the pipe
    out.transfer_idle = 0;
    out.pipe = question_.shared_memory ? 0 : batch.joint;
    if (question_.shared_memory) out.transfer_cpu *= doubt_.pickling;
  }
  out.receive = recording_.transfer_known ? receive_of(batch, cpu) * calibration_.overheads : assumed;
  if (question_.instant_receive || question_.shared_memory) out.receive = 0;
  out.pin = batch.pin;
  out.pause = pause_of(batch) * calibration_.pauses;
  return out;
}

PlannedStep Planner::step_of(const RecordedStep& step) const {
  PlannedStep out;
  out.threads = threads_of(step);
  out.cpu = step.cpu / out.threads * step_factor_;
  out.idle = std::max(0.0, step.wall - step.cpu / out.threads) * calibration_.step_idle * step_factor_;
  return out;
}

// Start and end of an epoch: as recorded, but with the part that grows with the number of workers scaled.
void Planner::set_ends(const RecordedEpoch& recorded, bool fresh, PlannedEpoch& epoch) const {
  const auto before = static_cast<double>(recording_.loader.workers);
  const auto workers = static_cast<double>(settings_.workers);
  epoch.start = recorded.start;
  epoch.finish = recorded.finish;
  // Workers that are kept are not waited for at the epoch's end.
  if (settings_.persistent && !recording_.loader.keeps_workers())
    epoch.finish = std::min(epoch.finish, recording_.overheads.own);
  if (before == 0) {
    const double start = fresh ? kStartOfWorker * doubt_.assumed : 0;
    epoch.start += workers * start;
    epoch.ready.assign(settings_.workers, epoch.start + start);
    return;
  }
  const double each = fresh ? recorded.start / before : 0;
  const double more = (workers - before) * each;
  epoch.start = std::max(0.0, recorded.start + more);
  if (fresh) epoch.finish *= workers / before;
  for (std::uint64_t w = 0; w < settings_.workers; ++w) {
    const double ready = recorded.ready[std::min<std::size_t>(w, recorded.ready.size() - 1)];
    epoch.ready.push_back(std::max(0.0, ready + more));
  }
}

PlannedEpoch Planner::epoch_of(const RecordedEpoch& recorded, bool fresh, std::uint64_t most) {
  PlannedEpoch epoch;
  for (const auto& batch : recorded.batches)
    epoch.batches.push_back(batch_of(batch, recorded.fresh && !fresh));
  for (const auto& step : recorded.steps)
    if (epoch.steps.size() < most) epoch.steps.push_back(step_of(step));
  epoch.weight = static_cast<double>(recorded.consumed) / static_cast<double>(epoch.steps.size());
  if (recorded.fresh && !fresh) {  // the workers run already
    epoch.ready.assign(settings_.workers, recording_.overheads.dispatch);
    epoch.finish = std::min(recorded.finish, recording_.overheads.own);
    return epoch;
  }
  set_ends(recorded.fresh == fresh ? recorded : recording_.epochs.front(), fresh, epoch);
  return epoch;
}

Plan Planner::plan() {
  Plan plan;
  plan.settings = settings_;
  plan.overheads = recording_.overheads;
  for (double* part : {&plan.overheads.dispatch, &plan.overheads.own, &plan.overheads.handover})
    *part *= calibration_.overheads;
  if (question_.instant_own) plan.overheads.own = 0;
  plan.images = recording_.achieved.images;
  plan.slowness = question_.even_workers ? std::vector<double>() : recording_.slowness;
  plan.slowness.resize(settings_.workers, 1);
  const std::uint64_t most = std::max<std::uint64_t>(
      kFewestToReplay, kMostPlanned / std::max<std::size_t>(1, recording_.epochs.size()));
  double represented = 0;
  for (const auto& recorded : recording_.epochs) {
    const bool as_recorded = settings_.persistent == recording_.loader.keeps_workers();
    const bool fresh = as_recorded ? recorded.fresh : !settings_.persistent || plan.epochs.empty();
    plan.epochs.push_back(epoch_of(recorded, fresh, most));
    represented += static_cast<double>(recorded.consumed);
  }
  plan.weight = represented > 0 ? static_cast<double>(recording_.batches) / represented : 1;
  return plan;
}

}  // namespace

Settings settings_of(const Recording& recording, const Question& question) {
  const Loader& loader = recording.loader;
  const double cores = question.cores ? static_cast<double>(*question.cores) : recording.cores;
  const std::uint64_t workers = question.workers.value_or(loader.workers);
  return {workers,
          std::max<std::uint64_t>(1, question.prefetch.value_or(std::max<std::uint64_t>(
                                         1, loader.workers == 0 ? 2 : loader.prefetch))),
          question.in_order.value_or(loader.in_order),
          question.pin_memory.value_or(loader.pin_memory),
          question.persistent.value_or(loader.keeps_workers()),
          cores > 0 ? cores : 1e6};
}

double mean_step(const Recording& recording) {
  double sum = 0;
  double count = 0;
  for (const auto& epoch : recording.epochs)
    for (const auto& step : epoch.steps) {
      sum += step.wall;
      ++count;
    }
  return count > 0 ? sum / count : 0;
}

Plan plan_of(const Recording& recording, const Question& question, const Calibration& calibration,
             const Doubt& doubt) {
  return Planner(recording, question, calibration, doubt).plan();
}

std::vector<std::string> op_names(const Recording& recording) {
  std::map<std::string, double> times;
  for (const auto& epoch : recording.epochs)
    for (const auto& batch : epoch.batches)
      for (const OpTime& time : batch.ops) times[recording.ops[time.op].name] += time.ns;
  std::vector<std::string> names;
  names.reserve(times.size());
  for (const auto& [name, time] : times) names.push_back(name);
  std::stable_sort(names.begin(), names.end(),
                   [&](const auto& a, const auto& b) { return times[a] > times[b]; });
  return names;
}

std::vector<std::string> nested_in(const Recording& recording, const std::string& name) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < recording.ops.size(); ++i)
    if (recording.ops[i].name == name) open.push_back(i);
  std::set<std::string> names;
  while (!open.empty()) {
    const RecordedOp& op = recording.ops[open.back()];
    open.pop_back();
    for (const std::uint32_t nested : op.nested) {
      if (!seen.insert(nested).second) continue;
      open.push_back(nested);
      if (recording.ops[nested].calls > 0 && recording.ops[nested].name != name)
        names.insert(recording.ops[nested].name);
    }
  }
  return {names.begin(), names.end()};
}

OwnCode own_code_of(const Recording& recording, const RecordedBatch& batch) {
  OwnCode own{batch.fetch, batch.fetch_cpu};
  for (const OpTime& time : batch.ops) {
    own.wall -= time.ns;
    own.cpu -= time.ns * std::min(1.0, recording.ops[time.op].cpu.share().value_or(1));
  }
  return own;
}

static double mean_of_own_code(const Recording& recording) {
  double own = 0;
  double batches = 0;
  for (const auto& epoch : recording.epochs)
    for (const auto& batch : epoch.batches) {
      own += own_code_of(recording, batch).wall;
      ++batches;
    }
  return batches > 0 ? std::max(0.0, own / batches) : 0;
}

std::optional<double> mean_of_op(const Recording& recording, const std::string& name) {
  if (name == kOwnCode) return mean_of_own_code(recording);
  double self = 0;
  double calls = 0;
  for (const auto& op : recording.ops)
    if (op.name == name) {
      self += op.self;
      calls += static_cast<double>(op.calls);
    }
  return calls > 0 ? std::optional(self / calls) : std::nullopt;
}

}  // namespace lotus::analyzer
