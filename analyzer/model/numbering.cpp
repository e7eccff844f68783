#include "model/numbering.hpp"

#include <bit>

namespace lotus::analyzer {

void Numbering::on_batch(const Batch& batch) {
  const std::uint64_t index = batch.key.batch;
  if (index >= kMostPerReset) return;
  auto& present = resets_[key_of(batch.key)].present;
  if (index / kBits >= present.size()) present.resize(index / kBits + 1);
  present[index / kBits] |= std::uint64_t{1} << (index % kBits);
}

void Numbering::settle() {
  std::uint64_t count = 0;
  for (auto& [key, reset] : resets_) {
    reset.before.clear();
    for (const std::uint64_t word : reset.present) {
      reset.before.push_back(count);
      count += static_cast<std::uint64_t>(std::popcount(word));
    }
  }
}

std::optional<std::uint64_t> Numbering::of(const BatchKey& key) const {
  const auto found = resets_.find(key_of(key));
  const std::uint64_t word = key.batch / kBits;
  if (found == resets_.end() || word >= found->second.before.size()) return std::nullopt;
  const std::uint64_t below = (std::uint64_t{1} << (key.batch % kBits)) - 1;
  const Reset& reset = found->second;
  return reset.before[word] + static_cast<std::uint64_t>(std::popcount(reset.present[word] & below));
}

}  // namespace lotus::analyzer
