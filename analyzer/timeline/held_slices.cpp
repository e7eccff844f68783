#include "timeline/held_slices.hpp"

#include <utility>

namespace lotus::analyzer {

std::string HeldSlices::ended(std::size_t depth, std::uint64_t start, std::uint64_t parent_start,
                              std::string begin, const std::string& end) {
  std::string lost;  // held for spans that will not come: their end is missing in the trace
  while (!held_.empty() && held_.back().depth >= depth) {
    const Held& last = held_.back();
    (last.depth == depth && last.start == start ? begin : lost) += last.packets;
    held_.pop_back();
  }
  std::string all = std::move(lost) + std::move(begin) + end;
  if (parent_start != start) return all;
  if (held_.empty() || held_.back().depth + 1 != depth) {
    held_.push_back({depth - 1, start, std::move(all)});
    return {};
  }
  Held& siblings = held_.back();
  if (siblings.start == start) {
    siblings.packets += all;
    return {};
  }
  return std::exchange(siblings, {depth - 1, start, std::move(all)}).packets;
}

std::string HeldSlices::never_ended(std::size_t depth, std::uint64_t start, std::string begin) {
  std::size_t at = 0;
  while (at < held_.size() && held_[at].depth != depth) ++at;
  if (at == held_.size()) return begin;
  std::string packets = std::move(held_[at].packets);
  const bool waited = held_[at].start == start;
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
  return waited ? begin + packets : packets + begin;
}

std::string HeldSlices::rest() {
  std::string all;
  for (const auto& held : std::exchange(held_, {})) all += held.packets;
  return all;
}

}  // namespace lotus::analyzer
