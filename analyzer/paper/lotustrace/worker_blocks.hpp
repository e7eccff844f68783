// The lines that a worker logged for one batch, as nested spans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paper/lotustrace/log_files.hpp"

namespace lotus::analyzer::lotustrace {

struct BlockSpan {
  enum class What : std::uint8_t { fetch, sample, op, loader, transform, collation };
  What what{};
  std::size_t name = 0;  // op: position in WorkerBlocks::names()
  std::int64_t start = 0, end = 0;
  std::uint64_t line = 0;   // where it was logged; of a sample: its first line
  std::uint64_t batch = 0;  // fetch
};

// The spans of one batch, outer before inner, in order of time. The last block of a log may lack its fetch:
// the worker was killed.
struct Block {
  std::vector<BlockSpan> spans;
  std::optional<std::size_t> place;  // of its Preprocessed record in the file
};

// Reads a worker's log batch by batch.
class WorkerBlocks {
 public:
  // `file` outlives it.
  explicit WorkerBlocks(const LogFile& file) : reader_(file, nullptr) {}

  // False at the end of the file.
  bool next(Block& block);
  // Classes of the operations seen so far.
  const std::vector<std::string>& names() const { return names_; }

 private:
  void add(Block& block, const Line& line);
  std::size_t name_of(std::string_view name);

  LogReader reader_;
  std::vector<std::string> names_;
  std::size_t batches_ = 0;
};

// Adds the samples. A sample lasts from a Loader line to the Transform line behind it. Without Loader lines,
// it lasts from one call of the batch's first operation to the next, since a pipeline calls the same
// operations for each sample.
void add_samples(std::vector<BlockSpan>& spans);

// Puts outer spans before inner ones. Those that overlap another one without lying inside it, which happens
// when the clock was set, are taken out and returned; so are those that lie inside absurdly many.
std::vector<BlockSpan> nest(std::vector<BlockSpan>& spans);

}  // namespace lotus::analyzer::lotustrace
