// Intervals of shares that were estimated from samples.
#pragma once

namespace lotus::analyzer {

// Bounds of an estimate.
struct Bounds {
  double low = 0, high = 0;
};

// The exact 95 % interval (Clopper and Pearson's) of a share whose estimate from n ≥ 0 independent samples is
// `share`, in [0, 1]: holds the truth with at least 95 % probability, however small n and the share are. n
// may be broken (see Tally::effective). Without samples: [0, 1].
Bounds exact_interval(double share, double n);

// The smallest share of which n samples hold at least one with 95 % probability: 1 − 0.05^(1/n). n = 0: 1.
double smallest_seen(double n);

// Samples that hold a function of `share` (in (0, 1)) with 95 % probability.
double samples_to_see(double share);

// How many standard errors to either side of a normal estimate hold the truth with `probability`, in (0, 1).
double errors_for(double probability);

}  // namespace lotus::analyzer
