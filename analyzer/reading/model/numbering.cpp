#include "reading/model/numbering.hpp"

#include <bit>

namespace lotus::analyzer {

void Numbering::on_batch(const Batch& batch) {
  const std::uint64_t index = batch.key.batch;
  resets_[key_of(batch.key)][index / kBits].present |= std::uint64_t{1} << (index % kBits);
}

void Numbering::settle() {
  std::uint64_t count = 0;
  for (auto& [key, reset] : resets_)
    for (auto& [index, word] : reset) {
      word.before = count;
      count += static_cast<std::uint64_t>(std::popcount(word.present));
    }
}

std::optional<std::uint64_t> Numbering::of(const BatchKey& key) const {
  const auto reset = resets_.find(key_of(key));
  if (reset == resets_.end()) return std::nullopt;
  const auto word = reset->second.find(key.batch / kBits);
  const std::uint64_t bit = std::uint64_t{1} << (key.batch % kBits);
  if (word == reset->second.end() || (word->second.present & bit) == 0) return std::nullopt;
  return word->second.before + static_cast<std::uint64_t>(std::popcount(word->second.present & (bit - 1)));
}

}  // namespace lotus::analyzer
