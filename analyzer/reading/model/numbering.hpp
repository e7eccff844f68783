// Numbers for batches that are unique over epochs and loaders.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "reading/model/visitor.hpp"

namespace lotus::analyzer {

// Numbers all batches of a trace 0, 1, 2 … in order of training process, iterator, reset and PyTorch's own
// index. Show it the whole trace, call settle(), then of() may be called. Needs about a byte per
// batch.
class Numbering : public Visitor {
 public:
  void on_batch(const Batch& batch) override;
  void settle();

  // The number of a batch; none if the batch was not visited.
  std::optional<std::uint64_t> of(const BatchKey& key) const;

 private:
  static constexpr std::uint64_t kBits = 64;

  // kBits neighbouring indices.
  struct Word {
    std::uint64_t present = 0;  // bit per index
    std::uint64_t before = 0;   // batches in words before it, and before the reset
  };
  // By index / kBits: a file may name any index.
  using Reset = std::map<std::uint64_t, Word>;
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;
  static Key key_of(const BatchKey& key) { return {key.training->number, key.iterator, key.reset}; }

  std::map<Key, Reset> resets_;
};

}  // namespace lotus::analyzer
