#include <fmt/format.h>

#include <algorithm>

#include "answers/controlflow/compiled_views.hpp"
#include "answers/controlflow/views.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr double kMuch = 0.02;  // of a call's time: what is less is no finding

std::string at(const ConstructAnswer& construct) { return escaped(memory::source_text(construct.source)); }

std::string times_text(double count) {
  return count == static_cast<double>(static_cast<std::uint64_t>(count))
             ? human_count(static_cast<std::uint64_t>(count))
             : fmt::format("{:.1f}", count);
}

double own_cost(const RegionAnswer& answer, const ConstructAnswer& construct) {
  return (construct.sums.own.python + construct.sums.own.control) / static_cast<double>(answer.used);
}

std::string share_text(const RegionAnswer& answer, double ns) {
  return human_percent(100 * ns / answer.parts.untraced());
}

std::string loop_text(const RegionAnswer& answer, const ConstructAnswer& loop) {
  const double python = loop.sums.own.python / static_cast<double>(answer.used);
  if (loop.sums.iterations == 0)
    return fmt::format(
        "The loop at {} runs no operator of PyTorch: up to {} of Python a call ({}). Take it out of the "
        "model, or do it "
        "on tensors.",
        at(loop), human_time(python), share_text(answer, python));
  const double iterations = answer.per_call(loop.sums.iterations);
  return fmt::format(
      "The loop at {}: {} iterations a call, each with {} of Python beside {} of operators; {} of the call's "
      "time is its "
      "control flow. Compile what it iterates (torch.compile, torch.jit.script), or move out of it what does "
      "not need "
      "the iteration before, so that one operator does it for all.",
      at(loop), (loop.sums.exact ? "" : "about ") + times_text(iterations),
      human_time(python / std::max(1.0, iterations)),
      human_time(loop.sums.own.native / static_cast<double>(answer.used) / std::max(1.0, iterations)),
      share_text(answer, own_cost(answer, loop)));
}

std::string recursion_text(const RegionAnswer& answer, const ConstructAnswer& recursion) {
  return fmt::format(
      "The recursion of {} at {}: {} calls, {} deep; {} of the call's time is its control flow. Go through "
      "the tree level by "
      "level, with one operator for all nodes of a level, and read its structure once (tolist) before.",
      escaped(recursion.source.function), at(recursion), times_text(answer.per_call(recursion.sums.calls)),
      recursion.sums.depth, share_text(answer, own_cost(answer, recursion)));
}

std::string skip_text(const ConstructAnswer& branch) {
  const ConstructAnswer::Skip skip = branch.skip();
  if (!skip.known) return "";
  const std::string decides = skip.decision_ns > 0 ? human_time(skip.decision_ns) : "nothing";
  const std::string saves = human_time(skip.costly_ns - skip.cheap_ns);
  if (skip.break_even <= 0)
    return fmt::format("The branch at {} never pays: to decide takes {}, and to skip saves {}.", at(branch),
                       decides, saves);
  const std::string so_far =
      fmt::format("It is executed in {} of its visits.", human_percent(100 * skip.executed));
  if (skip.benefit_ns < 0)
    return fmt::format(
        "The branch at {} costs more than it saves: to decide takes {}, to skip saves {}, so it pays up to "
        "{} executed. {}",
        at(branch), decides, saves, human_percent(100 * skip.break_even), so_far);
  return fmt::format("The branch at {} pays up to {} executed: to decide takes {}, to skip saves {}. {}",
                     at(branch), human_percent(100 * skip.break_even), decides, saves, so_far);
}

std::string test_text(const RegionAnswer& answer, const ConstructAnswer& branch) {
  const double test = branch.sums.test.untraced();
  if (test / static_cast<double>(answer.used) < kMuch * answer.parts.untraced()) return "";
  return fmt::format(
      "The test at {} reads a tensor: {} a time, {} of the call's time. Decide once for all (tolist before "
      "the loop), or "
      "on the tensor (torch.where).",
      at(branch), human_time(test / static_cast<double>(branch.sums.visits())),
      share_text(answer, test / static_cast<double>(answer.used)));
}

}  // namespace

std::vector<std::string> control_flow_findings(const RegionAnswer& answer) {
  std::vector<std::string> findings;
  if (answer.overhead() < kNothingToGain || answer.waits() || answer.operators == 0) return findings;
  const auto add = [&](std::string text) {
    if (!text.empty()) findings.push_back(std::move(text));
  };
  for (std::string& text : compiled_findings(answer.compilation, answer.parts)) add(std::move(text));
  const bool is_compiled = answer.compilation.any();
  for (const ConstructAnswer& construct : answer.constructs) {
    if (construct.kind == ConstructKind::branch) {
      add(test_text(answer, construct));
      add(skip_text(construct));
    } else if (own_cost(answer, construct) >= kMuch * answer.parts.untraced()) {
      add(construct.kind == ConstructKind::loop ? loop_text(answer, construct)
                                                : recursion_text(answer, construct));
    }
  }
  const double outside = answer.outside.python + answer.outside.control;
  if (is_compiled) return findings;  // what is left outside of constructs is PyTorch's way into its graphs
  if (findings.empty() || outside > (answer.parts.python + answer.parts.control) / 2)
    add(
        fmt::format("{} of the call's time is Python outside of all loops and recursions: calls of modules "
                    "and operators one after the "
                    "other. torch.compile or torch.jit.trace of the whole takes it away.",
                    share_text(answer, outside)));
  return findings;
}

}  // namespace lotus::analyzer::controlflow
