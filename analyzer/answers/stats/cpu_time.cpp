#include "answers/stats/cpu_time.hpp"

#include <algorithm>

namespace lotus::analyzer {

void CpuTime::add(std::int64_t wall_ns, std::optional<std::uint64_t> cpu_ns) {
  const std::int64_t wall = std::max<std::int64_t>(0, wall_ns);
  Times& times = classes_[duration_class(static_cast<std::uint64_t>(wall))];
  times.wall += static_cast<double>(wall);
  if (!cpu_ns) return;
  times.measured_wall += static_cast<double>(wall);
  times.measured_cpu += static_cast<double>(*cpu_ns);
}

std::optional<double> CpuTime::ns(std::optional<double> otherwise) const {
  Times all;
  for (const Times& times : classes_) all.add(times);
  if (all.measured_wall <= 0 && !otherwise) return std::nullopt;
  const double rest = otherwise ? *otherwise : all.ratio();
  double sum = 0;
  for (const Times& times : classes_) sum += times.wall * (times.measured_wall > 0 ? times.ratio() : rest);
  return sum;
}

double CpuTime::unmeasured_wall() const {
  double sum = 0;
  for (const Times& times : classes_) sum += times.measured_wall > 0 ? 0 : times.wall;
  return sum;
}

std::optional<double> CpuTime::share() const {
  const auto cpu = ns();
  if (!cpu) return std::nullopt;
  double wall = 0;
  for (const Times& times : classes_) wall += times.wall;
  return *cpu / wall;
}

}  // namespace lotus::analyzer
