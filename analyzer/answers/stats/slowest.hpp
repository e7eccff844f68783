// The slowest of many, in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace lotus::analyzer {

// `Row` has `ns`, and `first`: the first of its worker, which is kept only if there are too few others.
template <class Row, std::size_t kMost>
class Slowest {
 public:
  // Whether such a row would be kept now. If not, it need not be made.
  template <class Duration>
  bool takes(Duration ns, bool first) const {
    const auto& rows = first ? firsts_ : others_;
    return rows.size() < kMost || ns > rows.back().ns;
  }

  void add(Row row) {
    auto& rows = row.first ? firsts_ : others_;
    rows.insert(std::upper_bound(rows.begin(), rows.end(), row, slower), std::move(row));
    if (rows.size() > kMost) rows.pop_back();
  }

  // Slowest first.
  std::vector<Row> rows() const {
    std::vector<Row> all = others_;
    const std::size_t room = std::min(firsts_.size(), kMost - all.size());
    all.insert(all.end(), firsts_.begin(), firsts_.begin() + static_cast<std::ptrdiff_t>(room));
    std::stable_sort(all.begin(), all.end(), slower);
    return all;
  }

 private:
  static bool slower(const Row& a, const Row& b) { return a.ns > b.ns; }

  std::vector<Row> others_, firsts_;
};

}  // namespace lotus::analyzer
