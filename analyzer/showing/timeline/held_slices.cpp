#include "showing/timeline/held_slices.hpp"

#include <utility>

namespace lotus::analyzer {

std::string_view HeldSlices::ended(std::size_t depth, std::uint64_t start, std::uint64_t parent_start,
                                   std::string_view begin, std::string_view end) {
  ready_.clear();  // first the slices held for spans that never end in the trace
  span_ = begin;
  while (!held_.empty() && held_.back().depth >= depth) {
    const Held& last = held_.back();
    (last.depth == depth && last.start == start ? span_ : ready_) += last.packets;
    held_.pop_back();
  }
  ready_ += span_;
  ready_ += end;
  if (parent_start != start) return ready_;
  if (held_.empty() || held_.back().depth + 1 != depth) {
    held_.push_back({depth - 1, start, ready_});
    return {};
  }
  Held& siblings = held_.back();
  if (siblings.start == start) {
    siblings.packets += ready_;
    return {};
  }
  siblings.start = start;
  siblings.packets.swap(ready_);
  return ready_;
}

std::string_view HeldSlices::never_ended(std::size_t depth, std::uint64_t start, std::string_view begin) {
  ready_ = begin;
  std::size_t at = 0;
  while (at < held_.size() && held_[at].depth != depth) ++at;
  if (at == held_.size()) return ready_;
  const Held& held = held_[at];
  ready_.insert(held.start == start ? ready_.size() : 0, held.packets);
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
  return ready_;
}

std::string HeldSlices::rest() {
  std::string all;
  for (const auto& held : std::exchange(held_, {})) all += held.packets;
  return all;
}

}  // namespace lotus::analyzer
