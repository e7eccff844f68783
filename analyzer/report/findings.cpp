#include "report/findings.hpp"

#include <algorithm>

namespace lotus::analyzer {

std::optional<double> cpu_of(const OpFinding& op, const Findings& findings) {
  if (const auto own = op.cpu.ns()) return *own / 1e9;
  if (findings.fetch_cpu_wall <= 0) return std::nullopt;
  return op.wall.sum() * findings.fetch_cpu / findings.fetch_cpu_wall / 1e9;
}

std::optional<double> cpu_outside_ops(const Findings& findings) {
  if (findings.fetch_cpu_wall <= 0) return std::nullopt;
  double rest = findings.fetch_cpu * findings.fetch_time / findings.fetch_cpu_wall;
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
  if (!cpu || findings.core_wait_wall <= 0) return findings.outside_ops;
  const double off = findings.core_wait_wall * (1 - findings.fetch_cpu / findings.fetch_cpu_wall);
  const double crowded = off > 0 ? std::min(1.0, findings.core_wait / off) : 0;
  return findings.outside_ops - crowded * (findings.outside_ops - *cpu * 1e9);
}

double share_percent(const OpFinding& op, const Findings& findings) {
  return findings.fetch_time > 0 ? 100 * op.fetch_self / findings.fetch_time : 0;
}

const OpFinding* dominant_op(const Findings& findings) {
  const auto less = [](const OpFinding& a, const OpFinding& b) { return a.fetch_self < b.fetch_self; };
  const auto most = std::max_element(findings.ops.begin(), findings.ops.end(), less);
  return most == findings.ops.end() || most->fetch_self <= 0 ? nullptr : &*most;
}

}  // namespace lotus::analyzer
