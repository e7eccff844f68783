// The CPU time of calls of which only some were measured.
//
// Reading a thread's CPU clock is a system call, and there the kernel gives the CPU to whoever waits for it:
// where several programs compete for the cores, measured calls take longer than the others and compute for
// less of their time. Calls that took equally long are alike, measured or not: each class of durations is
// estimated by itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace lotus::analyzer {

class CpuTime {
 public:
  // A call; `cpu_ns`: if it was measured.
  void add(std::int64_t wall_ns, std::optional<std::uint64_t> cpu_ns);

  // CPU time of all calls, ns, at most their wall time; none: no call was measured. `otherwise`: the share of
  // a call's time that counts where no call that took as long was measured; none: that of all that were.
  std::optional<double> ns(std::optional<double> otherwise = {}) const;
  // Wall time of the calls for which `otherwise` counts, ns.
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
  std::array<Times, 128> classes_{};  // two for each power of two
};

}  // namespace lotus::analyzer
