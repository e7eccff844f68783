#include "answers/controlflow/times.hpp"

#include <algorithm>
#include <utility>

namespace lotus::analyzer::controlflow {
namespace {

struct Stage {
  std::uint64_t begin = 0, end = 0;  // ticks
  Gap gap;
  double debt_ns = 0;  // what recording took around the gap's end
};

// What recording costs, in ns.
struct Prices {
  double operator_ns = 0, inside_ns = 0, nested_ns = 0, call_ns = 0, tensor_ns = 0;

  double around(const Operator& at) const {
    return operator_ns + tensor_ns * static_cast<double>(at.last - at.first);
  }
  double inside(const Operator& at) const { return inside_ns + nested_ns * static_cast<double>(at.nested); }
};

// What is known of their ratios where only their sum is.
constexpr LaneCost kRatios = {1'000'000, 0, 250'000, 300'000, 100'000};

Prices prices_of(const Region& region, double factor) {
  const LaneCost known = region.process->lane_cost.value_or(LaneCost{});
  const bool priced = known.operator_ps > 0;
  if (!priced && region.cost == 0) return {};
  const LaneCost& cost = priced ? known : kRatios;
  const auto ns = [](std::uint64_t ps) { return static_cast<double>(ps) / 1e3; };
  Prices prices{ns(cost.operator_ps), ns(cost.inside_ps), ns(cost.nested_ps), ns(cost.call_ps),
                ns(cost.tensor_ps)};
  double sum = prices.call_ns * static_cast<double>(region.activations.size());
  for (const Operator& at : region.operators) sum += prices.around(at) + prices.inside(at);
  // The recorder's own estimate knows of more than prices.
  if (region.cost > 0 && sum > 0) factor *= static_cast<double>(region.cost) * region.ns_per_tick / sum;
  for (double* price :
       {&prices.operator_ns, &prices.inside_ns, &prices.nested_ns, &prices.call_ns, &prices.tensor_ns})
    *price *= factor;
  return prices;
}

class Maker {
 public:
  Maker(const Region& region, double factor) : region_(region), prices_(prices_of(region, factor)) {}

  Times made(const DataFlow& flow) {
    add_operators(flow);
    for (std::size_t i = 0; i < region_.activations.size(); ++i) add_gaps(i);
    std::stable_sort(stages_.begin(), stages_.end(),
                     [](const Stage& a, const Stage& b) { return a.begin < b.begin; });
    add_outside();
    pay();
    sum_activations();
    return std::move(times_);
  }

 private:
  double ns(std::uint64_t ticks) const { return static_cast<double>(ticks) * region_.ns_per_tick; }

  void add_operators(const DataFlow& flow) {
    for (std::size_t i = 0; i < region_.operators.size(); ++i) {
      const Operator& at = region_.operators[i];
      const double took = ns(at.end - at.begin);
      Parts parts;
      parts.tracing = std::min(took, prices_.inside(at));
      (flow.control()[i] ? parts.control : parts.native) = took - parts.tracing;
      times_.operators.push_back(parts);
      times_.all.add(parts);
      operators_ticks_ += at.end - at.begin;
    }
  }

  void add_gaps(std::size_t index) {
    const Activation& activation = region_.activations[index];
    for (std::size_t s = 0; s < activation.stretches.size(); ++s) {
      const Activation::Stretch& stretch = activation.stretches[s];
      const std::size_t last =
          s + 1 < activation.stretches.size() ? activation.stretches[s + 1].first : activation.events.size();
      std::uint64_t from = stretch.begin;
      // What calls another one pays for that; nobody calls the outermost.
      if (activation.caller == Activation::kNobody && !activation.inferred) debts_ += prices_.call_ns;
      for (std::size_t e = stretch.first; e < last; ++e) {
        const Event& event = activation.events[e];
        add_gap(index, e, from, event.begin,
                event.is_call ? prices_.call_ns : prices_.around(region_.operators[event.index]));
        from = std::max(from, event.end);
      }
      add_gap(index, last, from, stretch.end, 0);
    }
  }

  void add_gap(std::size_t index, std::size_t before, std::uint64_t from, std::uint64_t to, double debt) {
    to = std::max(from, to);
    stages_.push_back({from, to, {index, before, {}}, debt + std::exchange(debts_, 0)});
    gaps_ticks_ += to - from;
  }

  void add_outside() {
    const std::uint64_t all = region_.end - region_.begin;
    const std::uint64_t known = operators_ticks_ + gaps_ticks_;
    if (all > known) stages_.push_back({region_.end - (all - known), region_.end, {}, 0});
  }

  void pay() {
    double debt = 0;
    for (Stage& stage : stages_) {
      debt += stage.debt_ns;
      const double took = ns(stage.end - stage.begin);
      stage.gap.parts.tracing = std::min(took, debt);
      stage.gap.parts.python = took - stage.gap.parts.tracing;
      debt -= stage.gap.parts.tracing;
      times_.all.add(stage.gap.parts);
      times_.gaps.push_back(stage.gap);
    }
  }

  // Those that are called begin after their callers.
  void sum_activations() {
    times_.activations.resize(region_.activations.size());
    for (const Gap& gap : times_.gaps)
      if (gap.activation != Gap::kNobody) times_.activations[gap.activation].add(gap.parts);
    for (std::size_t i = 0; i < region_.operators.size(); ++i)
      if (region_.operators[i].activation != Activation::kNobody)
        times_.activations[region_.operators[i].activation].add(times_.operators[i]);
    for (std::size_t i = region_.activations.size(); i-- > 0;)
      if (region_.activations[i].caller != Activation::kNobody)
        times_.activations[region_.activations[i].caller].add(times_.activations[i]);
  }

  const Region& region_;
  const Prices prices_;
  Times times_;
  std::vector<Stage> stages_;
  double debts_ = 0;  // of the next stage
  std::uint64_t operators_ticks_ = 0, gaps_ticks_ = 0;
};

}  // namespace

Times times_of(const Region& region, const DataFlow& flow, double factor) {
  return Maker(region, factor).made(flow);
}

}  // namespace lotus::analyzer::controlflow
