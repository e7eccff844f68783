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
      activities_(2 * plan.settings.workers + 2) {
  for (const double ready : epoch.ready) all_began_ = std::max(all_began_, ready);
}

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
  outcome_.lock_wait = fetches_ > 0 ? locking_ / fetches_ : 0;
  outcome_.settled = settled_ > 0 ? settled_fetching_ / settled_ : 0;
  outcome_.step /= static_cast<double>(std::max<std::uint64_t>(1, got_));
  return outcome_;
}

const PlannedBatch& Run::cost_of(Index batch) const {
  if (order_ == nullptr) return epoch_.batches[batch % epoch_.batches.size()];
  return epoch_.batches[order_->batches[batch % order_->batches.size()]];
}

void Run::begin(Actor actor, const Activity& activity) {
  Activity& own = activities_[actor] = activity;
  own.cpu /= own.slices;
  own.idle /= own.slices;
  if (own.cpu > 0 || own.idle > 0) return go_on(actor);
  own = {.slices = 1, .next = Phase::release};  // nothing to do
  machine_.sleep(actor, 0);
}

// Begins the next phase that takes any time.
void Run::go_on(Actor actor) {
  Activity& own = activities_[actor];
  while (own.slices > 0) {
    const Phase now = own.next;
    own.next = static_cast<Phase>(static_cast<int>(now) + 1);
    switch (now) {
      case Phase::compute:
        if (compute(actor, own.cpu * (1 - own.held))) return;
        break;
      case Phase::rest:
        if (sleep(actor, own.idle * (1 - own.held))) return;
        break;
      case Phase::lock:
        if (own.held > 0 && !lock(actor)) return;
        break;
      case Phase::locked_compute:
        if (compute(actor, own.cpu * own.held)) return;
        break;
      case Phase::locked_rest:
        if (sleep(actor, own.idle * own.held)) return;
        break;
      case Phase::release:
        own.next = Phase::compute;
        --own.slices;
        if (own.held > 0) release();
    }
  }
  done(actor);
}

bool Run::compute(Actor actor, double ns) {
  if (ns > 0) machine_.compute(actor, ns, activities_[actor].threads);
  return ns > 0;
}

bool Run::sleep(Actor actor, double ns) {
  if (ns > 0) machine_.sleep(actor, ns);
  return ns > 0;
}

// Whether the actor has the lock; else it goes on when it is its turn.
bool Run::lock(Actor actor) {
  if (!locker_) {
    locker_ = actor;
    return true;
  }
  to_lock_.emplace_back(actor, machine_.now());
  return false;
}

void Run::release() {
  locker_.reset();
  if (to_lock_.empty()) return;
  const auto [next, since] = to_lock_.front();
  to_lock_.pop_front();
  locking_ += machine_.now() - since;
  locker_ = next;
  go_on(next);
}

void Run::done(Actor actor) {
  const std::size_t workers = workers_.size();
  if (actor == kTraining) return training_done();
  if (actor <= workers) return worker_done(actor - 1);
  if (actor <= 2 * workers) return pickled(actor - 1 - workers);
  pinned();
}

// Begins to fetch a batch; returns the time.
double Run::fetch(Actor actor, Index batch, double slowness) {
  const PlannedBatch& cost = cost_of(batch);
  begin(actor,
        {.cpu = cost.cpu * slowness, .idle = cost.idle * slowness, .held = cost.held, .slices = cost.slices});
  return machine_.now();
}

}  // namespace lotus::analyzer
