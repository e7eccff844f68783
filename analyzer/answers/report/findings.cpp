#include "answers/report/findings.hpp"

#include <algorithm>

namespace lotus::analyzer {

std::optional<double> find_unmeasured_share(const Findings& findings) {
  const auto share = findings.fetch_cpu_share();
  if (!share) return std::nullopt;
  // Estimates are uncertain by some percent of the total, so a small remainder is assumed to be like the
  // whole.
  constexpr double kUncertain = 0.05;
  const double ended = findings.fetch_time - findings.unended_fetch;
  double rest = findings.outside_ops + kUncertain * ended;
  double cpu = *share * ended * (1 + kUncertain);
  for (const auto& op : findings.ops) {
    if (op.wall.sum() <= 0) continue;
    const double own = op.fetch_self / op.wall.sum();
    rest += own * op.cpu.unmeasured_wall();
    cpu -= own * op.cpu.ns(0).value_or(0);
  }
  return std::clamp(cpu / rest, 0.0, 1.0);
}

double Findings::collecting_share() const {
  if (fetch_time <= 0) return 0;
  const double by_samples = facts.garbage.sampled.value_or(0) * fetch_cpu_share().value_or(1);
  return std::min(1.0, std::max(facts.garbage.called / fetch_time, by_samples));
}

std::optional<double> cpu_of(const OpFinding& op, const Findings& findings) {
  const auto cpu = op.cpu.ns(findings.unmeasured_share);
  return cpu ? std::optional(*cpu / 1e9) : std::nullopt;
}

std::optional<double> cpu_outside_ops(const Findings& findings) {
  const auto share = findings.fetch_cpu_share();
  if (!share) return std::nullopt;
  double rest = *share * (findings.fetch_time - findings.unended_fetch);
  for (const auto& op : findings.ops) rest -= op.fetch_self * op.cpu_percent(findings).value_or(0) / 100;
  return std::clamp(rest, 0.0, findings.outside_ops) / 1e9;
}

std::optional<double> OpFinding::cpu_percent(const Findings& findings) const {
  const auto seconds = cpu_of(*this, findings);
  if (!seconds || wall.sum() <= 0) return std::nullopt;
  return std::min(100.0, 100 * *seconds * 1e9 / wall.sum());
}

double own_time_outside_ops(const Findings& findings) {
  const auto cpu = cpu_outside_ops(findings);
  if (!cpu || findings.core_wait.wall <= 0) return findings.outside_ops;
  const double off = findings.core_wait.wall * (1 - *findings.fetch_cpu_share());
  const double crowded = off > 0 ? std::min(1.0, findings.core_wait.waited / off) : 0;
  return findings.outside_ops - crowded * (findings.outside_ops - *cpu * 1e9);
}

double share_percent(const OpFinding& op, const Findings& findings) {
  const double all = std::max(findings.fetch_time, findings.making_time);
  return all > 0 ? 100 * op.fetch_self / all : 0;
}

const OpFinding* dominant_op(const Findings& findings) {
  const auto less = [](const OpFinding& a, const OpFinding& b) { return a.fetch_self < b.fetch_self; };
  const auto most = std::max_element(findings.ops.begin(), findings.ops.end(), less);
  return most == findings.ops.end() || most->fetch_self <= 0 ? nullptr : &*most;
}

}  // namespace lotus::analyzer
