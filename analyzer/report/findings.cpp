#include "report/findings.hpp"

#include <algorithm>

namespace lotus::analyzer {

std::optional<double> cpu_of(const OpFinding& op, const Findings& findings) {
  const bool own = op.measured_wall > 0;
  const double cpu = own ? op.measured_cpu : findings.fetch_cpu;
  const double wall = own ? op.measured_wall : findings.fetch_cpu_wall;
  if (wall <= 0) return std::nullopt;
  return op.wall.sum() * cpu / wall / 1e9;
}

std::optional<double> OpFinding::cpu_percent(const Findings& findings) const {
  const auto cpu = cpu_of(*this, findings);
  if (!cpu || wall.sum() <= 0) return std::nullopt;
  return std::min(100.0, 100 * *cpu * 1e9 / wall.sum());
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
