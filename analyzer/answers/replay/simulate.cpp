#include "answers/replay/simulate.hpp"

#include "answers/replay/run.hpp"

namespace lotus::analyzer {

ReplayOutcome simulate(const Plan& plan, const PlannedEpoch& epoch, const Order* order) {
  return Run(plan, epoch, order).run();
}

// If only the first batches of an epoch are replayed, the others are assumed to be like them.
ReplayOutcome simulate(const Plan& plan, const std::vector<Order>& orders) {
  ReplayOutcome sum;
  double batches = 0;
  double settled = 0;
  sum.achieved.images = plan.images;
  for (std::size_t i = 0; i < plan.epochs.size(); ++i) {
    const PlannedEpoch& epoch = plan.epochs[i];
    const ReplayOutcome one = simulate(plan, epoch, orders.empty() ? nullptr : &orders[i]);
    const double more = plan.weight * (epoch.weight - 1);
    sum.achieved.time += plan.weight * one.achieved.time + more * (one.achieved.time - one.first);
    sum.achieved.loop += plan.weight * one.achieved.loop + more * (one.achieved.time - one.first);
    sum.achieved.next += plan.weight * one.achieved.next + more * (one.achieved.next - one.first_wait);
    sum.first += plan.weight * one.first;
    const auto count = static_cast<double>(epoch.steps.size());
    sum.fetch += count * one.fetch;
    sum.step += count * one.step;
    sum.lock_wait += count * one.lock_wait;
    sum.settled += one.settled > 0 ? count * one.settled : 0;
    settled += one.settled > 0 ? count : 0;
    batches += count;
  }
  if (batches > 0) {
    sum.fetch /= batches;
    sum.step /= batches;
    sum.lock_wait /= batches;
    if (settled > 0) sum.settled /= settled;
  }
  return sum;
}

}  // namespace lotus::analyzer
