#include "operators/lane_costs.hpp"

#include "python/call_costs.hpp"

namespace lotus {
namespace {

// What is not measured, where a span costs kReferencePairPs: what PyTorch takes for an operator whose
// arguments and results it shows to an observer, and our clock, before and after its own time and within; for
// an operator inside of another one; what a block of memory takes that is given out or taken back, and a call
// of Python beside what the evaluator takes in a short loop, where all is in the caches. From bench/regions
// and the programs of bench/cocktailer, whose own prices differ: a call from 50 to 220 ns. So calls are timed
// without being recorded, too.
constexpr std::uint64_t kReferencePairPs = 30'000;
constexpr std::uint64_t kOutsidePs = 100'000, kInsidePs = 50'000, kNestedPs = 157'000, kBlockPs = 95'000,
                        kCallPs = 80'000;

struct Known {
  std::uint64_t pair_ps = 0;
  std::uint64_t regions = 0;
  std::uint64_t operator_ps = 0, call_ps = 0;  // the least of a region: what is told once is in the others'
};
constinit Known known{};

std::uint64_t priced(std::uint64_t ps) {
  if (known.pair_ps == 0) known.pair_ps = measure_pair_ps();
  return ps * known.pair_ps / kReferencePairPs;
}

std::uint64_t ticks_of(std::uint64_t ps) { return ps / 1000 * (ticks_per_second() / 1000) / 1'000'000; }

std::uint64_t ps_each(std::uint64_t ticks, std::uint64_t count) {
  if (count == 0) return 0;
  return ticks * 1'000'000 / (ticks_per_second() / 1'000'000) / count;
}

}  // namespace

std::uint64_t recording_cost(const LaneUse& use) {
  const std::uint64_t others = use.operators * priced(kOutsidePs + kInsidePs) +
                               use.nested * priced(kNestedPs) + use.blocks * priced(kBlockPs) +
                               use.calls * (call_costs.outside_ps + priced(kCallPs));
  return use.operator_ticks + use.call_ticks + ticks_of(others);
}

void tell_lane_costs(const LaneUse& use) {
  const auto least = [](std::uint64_t& known_ps, std::uint64_t ps) {
    if (ps != 0 && (known_ps == 0 || ps < known_ps)) known_ps = ps;
  };
  least(known.operator_ps, ps_each(use.operator_ticks, use.operators));
  least(known.call_ps, ps_each(use.call_ticks, use.calls));
  ++known.regions;
  if ((known.regions & (known.regions - 1)) != 0) return;
  const std::uint64_t blocks = use.operators != 0 ? use.blocks * priced(kBlockPs) / use.operators : 0;
  define<Kind::lane_cost>(known.operator_ps + priced(kOutsidePs), priced(kInsidePs) + blocks,
                          known.call_ps + call_costs.outside_ps + priced(kCallPs), std::uint64_t{0},
                          priced(kNestedPs));
}

}  // namespace lotus
