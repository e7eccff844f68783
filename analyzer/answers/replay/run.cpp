#include "answers/replay/run.hpp"

#include <algorithm>
#include <stdexcept>

namespace lotus::analyzer {

Run::Run(const Plan& plan, const PlannedEpoch& epoch, const Order* order)
    : epoch_(epoch),
      order_(order),
      settings_(plan.settings),
      overheads_(plan.overheads),
      slowness_(plan.slowness),
      wanted_(epoch.steps.size()),
      machine_(plan.settings.cores),
      workers_(plan.settings.workers),
      activities_(2 * plan.settings.workers + 2) {}

ReplayOutcome Run::run() {
  machine_.sleep(kTraining, epoch_.start);
  for (std::size_t worker = 0; worker < workers_.size(); ++worker)
    machine_.wake_at(worker_actor(worker), epoch_.ready[worker]);
  const std::uint64_t room = std::min<std::uint64_t>(wanted_, settings_.prefetch * workers_.size());
  for (std::uint64_t i = 0; i < room; ++i) try_put_index();
  while (!over_) {
    const auto actor = machine_.next();
    if (!actor) throw std::logic_error("the replay of an epoch stands still");
    const bool active = activities_[*actor].slices > 0;
    active ? go_on(*actor) : done(*actor);
  }
  outcome_.achieved.time = machine_.now();
  outcome_.achieved.loop = machine_.now() - loop_began_;
  outcome_.fetch = fetches_ > 0 ? fetching_ / fetches_ : 0;
  outcome_.step /= static_cast<double>(std::max<std::uint64_t>(1, got_));
  return outcome_;
}

const PlannedBatch& Run::cost_of(Index batch) const {
  if (order_ == nullptr) return epoch_.batches[batch % epoch_.batches.size()];
  return epoch_.batches[order_->batches[batch % order_->batches.size()]];
}

void Run::begin(Actor actor, double cpu, double idle, std::uint32_t slices, double threads) {
  const double n = slices;
  activities_[actor] = {cpu / n, idle / n, threads, slices, false};
  slice(actor);
}

void Run::slice(Actor actor) {
  Activity& activity = activities_[actor];
  activity.computing = activity.cpu > 0;
  if (activity.computing)
    machine_.compute(actor, activity.cpu, activity.threads);
  else
    machine_.sleep(actor, activity.idle);
}

void Run::go_on(Actor actor) {
  Activity& activity = activities_[actor];
  if (activity.computing && activity.idle > 0) {
    activity.computing = false;
    return machine_.sleep(actor, activity.idle);
  }
  if (--activity.slices > 0) return slice(actor);
  done(actor);
}

void Run::done(Actor actor) {
  const std::size_t workers = workers_.size();
  if (actor == kTraining) return training_done();
  if (actor <= workers) return worker_done(actor - 1);
  if (actor <= 2 * workers) return moved(actor - 1 - workers);
  pinned();
}

// Begins to fetch a batch; returns the time.
double Run::fetch(Actor actor, Index batch, double slowness) {
  const PlannedBatch& cost = cost_of(batch);
  begin(actor, cost.cpu * slowness, cost.idle * slowness, cost.slices);
  return machine_.now();
}

}  // namespace lotus::analyzer
