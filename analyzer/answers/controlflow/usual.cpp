#include "answers/controlflow/usual.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "answers/controlflow/compiled.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::size_t kWarm = 3;      // whole calls from which on the first of a run is left out
constexpr std::size_t kMostWarm = 4;  // and up to so many, a fourth of all, that did what none did later
constexpr std::size_t kHalved = 3;    // from which on only half of them count
constexpr std::size_t kOfAKind = 4;   // kinds with fewer calls are put together with the next longer ones
constexpr double kWaiting = 0.1;      // of its time: a call that waited

// How far the recorder's prices are off depends on the machine and on what else it runs; of few calls, which
// may differ by more than that, less is believed.
constexpr double kLeastFactor = 0.5, kMostFactor = 2, kLeastOfMany = 0.05, kMostOfMany = 5;
constexpr std::size_t kTimed = 3, kMany = 8;

// Of calls that did the same: the number of operators, and which ones at which lines.
using Kind = std::pair<std::size_t, std::uint64_t>;
Kind kind_of(const Region& region) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  std::uint64_t hash = region.activations.size();
  for (const Operator& op : region.operators)
    for (const std::uint64_t part : {op.hook, op.place}) hash = (hash ^ part) * kOdd ^ hash >> 29;
  return {region.operators.size(), hash};
}

// PyTorch's executor of scripts, for one, first looks at what it runs, and optimises it then. `calls`: in
// order.
void leave_out_warming_up(Group& calls) {
  const std::size_t most = std::min(kMostWarm, calls.size() / 4);
  std::set<Kind> later;
  for (std::size_t i = most; i < calls.size(); ++i) later.insert(kind_of(*calls[i]));
  std::size_t warm = 0;
  while (warm < most && !later.contains(kind_of(*calls[warm]))) ++warm;
  calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(warm));
}

void halve(Group calls, Group& kept) {
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Region* a, const Region* b) { return wall_ns(*a) < wall_ns(*b); });
  std::size_t left = calls.size() / 2;  // to be left out
  const auto waited = [](const Region* r) { return waited_ns(*r) > kWaiting * wall_ns(*r); };
  const auto waiting = static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), waited));
  if (waiting <= left) {
    std::erase_if(calls, waited);
    left -= waiting;
  }
  const std::size_t shortest = left / 2, longest = left - shortest;
  kept.insert(kept.end(), calls.begin() + static_cast<std::ptrdiff_t>(shortest),
              calls.end() - static_cast<std::ptrdiff_t>(longest));
}

// Of what `of` tells of each call, in ns.
template <class Of>
double middle_mean(const Group& calls, Of of) {
  std::vector<double> values;
  for (const Region* call : calls) values.push_back(of(*call));
  std::sort(values.begin(), values.end());
  const std::size_t quarter = values.size() / 4;
  double sum = 0;
  for (std::size_t i = quarter; i < values.size() - quarter; ++i) sum += values[i];
  return sum / static_cast<double>(values.size() - 2 * quarter);
}

bool knows_cpu(const Group& calls) {
  return std::all_of(calls.begin(), calls.end(), [](const Region* call) { return call->cpu_ns.has_value(); });
}

}  // namespace

double wall_ns(const Region& region) {
  return static_cast<double>(region.end - region.begin) * region.ns_per_tick;
}

double waited_ns(const Region& region) {
  if (!region.cpu_ns) return 0;
  return std::max(0.0, wall_ns(region) - static_cast<double>(*region.cpu_ns));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Group eligible(const Group& recorded) {
  Group whole;
  std::copy_if(recorded.begin(), recorded.end(), std::back_inserter(whole),
               [](const Region* r) { return r->is_whole(); });
  if (!std::all_of(whole.begin(), whole.end(), [](const Region* r) { return has_compiled(*r); }))
    std::erase_if(whole, [](const Region* r) { return has_compiled(*r); });
  if (whole.size() >= kWarm) std::erase_if(whole, [](const Region* region) { return region->number == 0; });
  leave_out_warming_up(whole);
  return whole;
}

Group usual(const Group& whole) {
  if (whole.size() < kHalved) return whole;
  std::vector<std::pair<Kind, const Region*>> by_kind;
  for (const Region* call : whole) by_kind.emplace_back(kind_of(*call), call);
  std::stable_sort(by_kind.begin(), by_kind.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Group kept, calls;
  for (std::size_t i = 0; i < by_kind.size(); ++i) {
    calls.push_back(by_kind[i].second);
    const std::size_t after = by_kind.size() - i - 1;
    const bool is_last_of_kind = after == 0 || by_kind[i].first != by_kind[i + 1].first;
    const bool are_enough = calls.size() >= kOfAKind && after >= kOfAKind;
    if (after == 0 || (is_last_of_kind && are_enough)) halve(std::exchange(calls, {}), kept);
  }
  return kept;
}

double recording_factor(const Group& whole, const Group& timed) {
  if (timed.size() < kTimed || whole.empty()) return 1;
  const double said = middle_mean(
      whole, [](const Region& call) { return static_cast<double>(call.cost) * call.ns_per_tick; });
  if (said <= 0) return 1;
  // Of what the thread computed, where that is known: other programs do not lengthen it.
  const bool by_cpu = knows_cpu(whole) && knows_cpu(timed);
  const auto took = [&](const Region& call) {
    return by_cpu ? static_cast<double>(*call.cpu_ns) : wall_ns(call);
  };
  const bool many = timed.size() >= kMany && whole.size() >= kMany;
  return std::clamp((middle_mean(whole, took) - middle_mean(timed, took)) / said,
                    many ? kLeastOfMany : kLeastFactor, many ? kMostOfMany : kMostFactor);
}

}  // namespace lotus::analyzer::controlflow
