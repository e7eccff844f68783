// The rows of the tables of loaders and workers: few, however many loaders there are.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "answers/report/findings.hpp"

namespace lotus::analyzer {

struct LoaderRow {
  const LoaderFinding* first = nullptr;
  std::uint64_t loaders = 0, epochs = 0, batches = 0, steps = 0;
  std::set<const Process*> trainings;
  std::optional<std::uint64_t> epoch_batches;  // none: they differ; 0: no epoch was gone through
  double step = 0, next = 0, loop = 0;         // ns, sums

  std::optional<double> waited_percent() const {
    return loop > 0 ? std::optional(100 * next / loop) : std::nullopt;
  }
};

// Of more loaders than kMostLoaders, those that are made at the same place with the same settings share a
// row, and the rows in which training spent the most time come first.
struct LoaderRows {
  static constexpr std::size_t kMostLoaders = 16;

  bool folded = false;
  std::vector<LoaderRow> rows;
  std::vector<std::size_t> row_of;  // by position in Findings::loaders
};
LoaderRows loader_rows(const Findings& findings);

}  // namespace lotus::analyzer
