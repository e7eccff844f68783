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

// Runs in which a function that takes `span` of each is sampled at least once with `confidence`, in (0, 1),
// where a sample is taken every `interval` (in the unit of `span`): n ≥ ln(1 − confidence) / ln(1 − span /
// interval), as in the research system. One that takes a whole interval is seen in the first run, one that
// takes no time in none: infinite.
double runs_to_see(double span, double interval, double confidence);

// How many standard errors to either side of an estimate hold the truth with `probability`, in (0, 1):
// Student's, where the error was estimated with so many degrees of freedom (≥ 1); the normal distribution's
// with infinitely many.
double errors_for(double probability, double freedom);

}  // namespace lotus::analyzer
