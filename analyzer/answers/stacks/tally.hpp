// CPU time estimated from samples.
#pragma once

#include <cstdint>

namespace lotus::analyzer {

struct Tally {
  std::uint64_t samples = 0;
  double cpu_ns = 0;   // that the samples stand for
  double squares = 0;  // Σ cpu_ns² of each sample

  void add(double ns) {
    ++samples;
    cpu_ns += ns;
    squares += ns * ns;
  }
  void add(const Tally& other) {
    samples += other.samples;
    cpu_ns += other.cpu_ns;
    squares += other.squares;
  }
  // The number of samples of equal weight with the same certainty (Kish's effective sample size). Fewer than
  // `samples` if some stand for several periods.
  double effective() const { return squares > 0 ? cpu_ns * cpu_ns / squares : 0; }
};

}  // namespace lotus::analyzer
