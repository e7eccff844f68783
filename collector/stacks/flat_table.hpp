// A hash table with 64-bit keys and open addressing, in one block of memory. The collector wakes up with cold
// caches: a look-up here waits for one cache line, where std::unordered_map waits for three.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lotus::collector {

// Entry: has a std::uint64_t `key`; 0 marks a free place.
template <class Entry>
class FlatTable {
 public:
  // nullptr if the key is not there. Valid until the next add().
  Entry* find(std::uint64_t key) {
    if (key == 0 || entries_.empty()) return nullptr;
    Entry& entry = place_of(key);
    return entry.key == key ? &entry : nullptr;
  }

  // Adds an entry whose key is not there yet.
  Entry& add(const Entry& entry) {
    if (2 * size_ >= entries_.size()) grow();
    ++size_;
    return place_of(entry.key) = entry;
  }

  std::size_t size() const { return size_; }

  void clear() { *this = {}; }

 private:
  static constexpr unsigned kFirstBits = 8;

  // Where the key is, or would be added.
  Entry& place_of(std::uint64_t key) {
    std::size_t at = key * 0x9e3779b97f4a7c15 >> shift_;
    while (entries_[at].key != key && entries_[at].key != 0) at = (at + 1) & (entries_.size() - 1);
    return entries_[at];
  }

  void grow() {
    std::vector<Entry> fewer(entries_.empty() ? std::size_t{1} << kFirstBits : 2 * entries_.size());
    std::swap(fewer, entries_);
    --shift_;
    for (const Entry& entry : fewer)
      if (entry.key != 0) place_of(entry.key) = entry;
  }

  std::vector<Entry> entries_;  // 2^(64 - shift_) of them, at least half of them free
  std::size_t size_ = 0;
  unsigned shift_ = 64 - kFirstBits + 1;
};

}  // namespace lotus::collector
