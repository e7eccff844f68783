// The ranks of a distributed training run side by side. Times in ns.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reading/trace/catalog.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

// Durations of which only the mean is needed, to save memory: a run may have hundreds of ranks.
struct Durations {
  std::uint64_t count = 0;
  double sum = 0;

  void add(std::int64_t ns) {
    ++count;
    sum += static_cast<double>(ns);
  }
  void add(const Durations& others) {
    count += others.count;
    sum += others.sum;
  }
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

struct RankFinding {
  std::uint64_t rank = 0;
  std::int64_t local = -1;  // among those of its machine; -1: unknown
  std::string host;
  std::set<std::uint32_t> training;  // pids
  std::set<const Process*> workers;
  std::uint64_t batches = 0,
                samples = 0;  // that training got; samples: batches where their size is not known
  std::uint64_t batches_in_time = 0, samples_in_time = 0;  // of them, in `time`
  Durations fetch, wait, step;
  // Of loops of which Iteration::trained_elsewhere(), only batches, samples and `next_elsewhere` count.
  double next_elsewhere = 0;  // inside __next__
  double next = 0;            // the same of the others
  double next_later = 0;      // the same without the first of each epoch, which waits for workers to start
  double loop = 0;            // from the first __next__ of an epoch to the end of its last
  double time = 0;            // the same from the call of __iter__ on
  std::map<std::string, Durations> ops;  // each call, by name

  // Another thread than training's takes most batches: how long training waits for them is not known.
  bool taken_elsewhere() const { return next_elsewhere > next; }
  std::optional<double> waited_percent() const {
    return loop > 0 && !taken_elsewhere() ? std::optional(100 * next / loop) : std::nullopt;
  }
  // The loop without first batches.
  double loop_later() const { return loop - (next - next_later); }
  std::optional<double> images_per_s() const {
    return time > 0 && !taken_elsewhere() ? std::optional(1e9 * static_cast<double>(samples_in_time) / time)
                                          : std::nullopt;
  }
};

// The straggler: in each step, the other ranks wait for the one that gets its data last. First batches of
// epochs are left out, here and below.
struct Straggler {
  const RankFinding* rank = nullptr;
  double others_next = 0;  // median over the other ranks
  std::string op;          // the operation that makes it slow; empty: none does
  double op_mean = 0, others_op_mean = 0;
};

struct RankFindings {
  std::vector<std::string> files;
  const char* unit = "samples";    // what loaders give: Catalog::sample_unit(), of the last trace
  std::uint64_t world = 0;         // ranks of the run; the traces may lack some
  std::vector<RankFinding> ranks;  // by number
};

// A rank is a straggler if it waited for data longer than the median of the others by this share of its loop.
inline constexpr double kStragglerPercent = 5;

// Refers to `findings`.
std::optional<Straggler> straggler_of(const RankFindings& findings);
// One or two sentences, with their numbers.
std::string straggler_message(const RankFindings& findings, const std::optional<Straggler>& straggler);

// An operation compared over the ranks: the mean duration of its calls on each.
struct OpOfRanks {
  std::string name;
  std::uint64_t calls = 0;
  double median = 0, slowest = 0;  // of the ranks' means
  std::uint64_t slowest_rank = 0;
};
// The operations, ordered by the difference between ranks, largest first.
std::vector<OpOfRanks> ops_of_ranks(const RankFindings& findings);

// The object that `report --by-rank --json` prints; keys are documented in lotus-analyze(1).
nlohmann::ordered_json ranks_json(const RankFindings& findings);
std::string ranks_text(const RankFindings& findings, const Terminal& terminal);

// The median of the values, which must not be empty.
double median_of(std::vector<double> values);

}  // namespace lotus::analyzer
