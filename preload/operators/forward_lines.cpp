#include "operators/forward_lines.hpp"

#include <cstring>

#include "system/mappings.hpp"

namespace lotus {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};  // the operator makes no nodes
constexpr std::uint64_t kLeast = 4;                 // smaller numbers may be anything

}  // namespace

void ForwardLines::begin_step(const void* thread, std::uint32_t process_generation) {
  if (era_ != 0 && thread == thread_ && process_generation == process_generation_) return;
  thread_ = thread;
  process_generation_ = process_generation;
  ++era_;
}

void ForwardLines::look(const void* function, std::uint64_t next) {
  if (next < kLeast) return;
  ++looks_;
  std::uint64_t words[kWords];
  if (read_own_memory(reinterpret_cast<std::uint64_t>(function), words, sizeof words) != sizeof words) return;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    if (words[i] != next && words[i] != kNone) excluded_[i] = true;
    if (excluded_[i] || words[i] != next || last_[i] == next) continue;
    last_[i] = next;
    if (++votes_[i] < kEnough) continue;
    offset_ = 8 * i;
    return;
  }
}

void ForwardLines::note(std::uint64_t begin, std::uint64_t end, std::uint32_t place) {
  if (place == 0 || end <= begin || end - begin > kNodes) return;
  for (std::uint64_t number = begin; number < end; ++number)
    nodes_[number & (kNodes - 1)] = {number, place, era_};
}

std::uint32_t ForwardLines::place_of(const void* function) const {
  if (offset_ == 0) return 0;
  std::uint64_t number = 0;
  std::memcpy(&number, static_cast<const char*>(function) + offset_, sizeof number);
  const Node& node = nodes_[number & (kNodes - 1)];
  return number != kNone && node.number == number && node.era == era_ ? node.place : 0;
}

}  // namespace lotus
