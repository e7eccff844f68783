#include "answers/report/shares.hpp"

#include "answers/report/cells.hpp"

namespace lotus::analyzer {
namespace {

std::optional<double> share_of(std::uint64_t part, const Series& of) {
  return percent_of(static_cast<double>(part), static_cast<double>(of.count()));
}

constexpr Share kShares[] = {
    {"", "core_wait_percent", "of preprocessing was waiting for a core: others ran there",
     [](const Findings& f) { return f.core_wait.percent(); }, kTellsOfCoresPercent},
    {"wait", "stall_percent", "of the run's duration was spent waiting",
     [](const Findings& f) { return percent_of(f.wait.sum(), f.wall); }},
    {"wait", "out_of_order_percent", "of the batches arrived out of order",
     [](const Findings& f) { return share_of(f.out_of_order, f.wait); }},
    {"wait", "over_500ms_percent", "of the waits took over 500 ms",
     [](const Findings& f) { return share_of(f.wait_over_500ms, f.wait); }},
    {"wait", "over_1ms_percent", "of the waits took over 1 ms",
     [](const Findings& f) { return share_of(f.wait_over_1ms, f.wait); }},
    {"wait", "under_1ms_in_order_percent", "of the waits took under 1 ms, in order",
     [](const Findings& f) { return share_of(f.wait_under_1ms_in_order, f.wait); }},
    {"delay", "over_500ms_percent", "of the delays were over 500 ms",
     [](const Findings& f) { return share_of(f.delay_over_500ms, f.delay); }},
    {"delay", "under_250ms_percent", "of the delays were under 250 ms",
     [](const Findings& f) { return share_of(f.delay_under_250ms, f.delay); }},
};

}  // namespace

std::span<const Share> shares() { return kShares; }

}  // namespace lotus::analyzer
