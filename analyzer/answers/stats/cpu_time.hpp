// The CPU time of calls of which only some were measured.
//
// Reading a thread's CPU clock is a system call, and the kernel may preempt the thread there. So where
// several programs compete for the cores, measured calls take longer than others and compute for less of
// their time. But measured and other calls of the same duration are alike, so each class of durations is
// estimated separately.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "answers/stats/duration_class.hpp"

namespace lotus::analyzer {

class CpuTime {
 public:
  // Adds a call; `cpu_ns`: none if not measured.
  void add(std::int64_t wall_ns, std::optional<std::uint64_t> cpu_ns);

  // CPU time of all calls, ns, at most their wall time; none: no call was measured. `otherwise`: the share to
  // assume in classes of durations without a measured call; none: the mean share of all measured calls.
  std::optional<double> ns(std::optional<double> otherwise = {}) const;
  // Wall time of the calls in classes without a measured call, ns.
  double unmeasured_wall() const;
  // The same as a share of their wall time, in [0, 1].
  std::optional<double> share() const;

 private:
  struct Times {
    double wall = 0, measured_wall = 0, measured_cpu = 0;

    void add(const Times& other) {
      wall += other.wall;
      measured_wall += other.measured_wall;
      measured_cpu += other.measured_cpu;
    }
    double ratio() const { return measured_cpu < measured_wall ? measured_cpu / measured_wall : 1; }
  };
  std::array<Times, kDurationClasses> classes_{};
};

}  // namespace lotus::analyzer
