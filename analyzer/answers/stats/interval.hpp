// Intervals of shares that were estimated from samples.
#pragma once

namespace lotus::analyzer {

// The probability with which a 95 % interval does not hold the true value.
inline constexpr double kMissed = 0.05;

// Bounds of an estimate.
struct Bounds {
  double low = 0, high = 0;
};

// The exact 95 % interval (Clopper and Pearson's) of a share whose estimate from n ≥ 0 independent samples is
// `share`, in [0, 1]: holds the true value with at least 95 % probability, however small n and the share are.
// n need not be an integer (see Tally::effective). Without samples: [0, 1].
Bounds exact_interval(double share, double n);

// The smallest share of which n samples hold at least one with 95 % probability: 1 − 0.05^(1/n). n = 0: 1.
double smallest_seen(double n);

// The number of samples that hit a function of `share` (in (0, 1)) at least once with 95 % probability.
double samples_to_see(double share);

// The number of runs until a function that takes `span` of each is sampled at least once with `confidence`,
// in (0, 1), if a sample is taken every `interval` (in the unit of `span`): n ≥ ln(1 − confidence) / ln(1 −
// span / interval), as in the research system. 1 for a span of a whole interval; infinite for a span of 0.
double runs_to_see(double span, double interval, double confidence);

// The half width, in standard errors, of the interval around an estimate that holds the true value with
// `probability`, in (0, 1). By Student's distribution with `freedom` degrees of freedom (≥ 1) of the error;
// by the normal distribution if `freedom` is infinite.
double errors_for(double probability, double freedom);

}  // namespace lotus::analyzer
