#include "paper/figures/figures.hpp"

namespace lotus::analyzer {
namespace {

constexpr FigureKind kFigures[] = {
    {"2", "timeline", "batches in workers and in training", timeline_figure},
    {"3", "out-of-order", "a batch that arrives out of order", out_of_order_figure},
    {"4", "preprocessing", "preprocessing time of a batch", preprocessing_figure},
    {"5a", "wait", "wait for a batch", wait_figure},
    {"5b", "delay", "delay of a batch", delay_figure},
    {"6a", "epoch", "end-to-end time of an epoch", epoch_figure},
    {"6b", "op-time", "CPU seconds of operations", op_time_figure},
    {"6c", "function-cpu", "CPU time of native functions", function_time_figure},
    {"6d", "op-cpu", "CPU time of operations, from their functions", op_cpu_figure},
    {"6e", "function-counter", "a counter of native functions", first_counter_by_function},
    {"6f", "op-counter", "a counter of operations", first_counter_by_op},
    {"6g", "function-counter-2", "a second counter of native functions", second_counter_by_function},
    {"6h", "op-counter-2", "a second counter of operations", second_counter_by_op},
};

}  // namespace

std::span<const FigureKind> figure_kinds() { return kFigures; }

const FigureKind* find_figure(std::string_view name) {
  for (const auto& kind : kFigures)
    if (name == kind.number || name == kind.name) return &kind;
  return nullptr;
}

}  // namespace lotus::analyzer
