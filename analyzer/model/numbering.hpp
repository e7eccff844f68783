// Numbers for batches that are unique over epochs and loaders.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "model/visitor.hpp"

namespace lotus::analyzer {

// Numbers all batches of a trace 0, 1, 2 … in order of training process, iterator, reset and PyTorch's own
// index. Let it visit the trace once, then call settle(), then ask. Needs one bit per batch.
class Numbering : public Visitor {
 public:
  void on_batch(const Batch& batch) override;
  void settle();

  // The number of a batch; none for one whose index is absurd (kMostPerReset).
  std::optional<std::uint64_t> of(const BatchKey& key) const;

 private:
  static constexpr std::uint64_t kMostPerReset = 1 << 26;
  static constexpr std::uint64_t kBits = 64;

  struct Reset {
    std::vector<std::uint64_t> present;  // bit per index
    std::vector<std::uint64_t>
        before;  // per word of `present`: batches in words before it, and before the reset
  };
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;
  static Key key_of(const BatchKey& key) { return {key.training->number, key.iterator, key.reset}; }

  std::map<Key, Reset> resets_;
};

}  // namespace lotus::analyzer
