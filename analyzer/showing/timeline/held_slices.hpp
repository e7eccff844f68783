// Puts the packets of a thread's slices into the order that viewers need: of slices that begin at the same
// time, the outer one comes first. Inner ones end earlier, so they are held until the outer one is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lotus::analyzer {

class HeldSlices {
 public:
  static constexpr std::uint64_t kNoParent = UINT64_MAX;

  // A span of this depth and start (any unit) ended: returns what may be written now, in order; valid until
  // the next call. `parent_start`: of the span around it, or kNoParent. Only what begins when its parent does
  // is held back.
  std::string_view ended(std::size_t depth, std::uint64_t start, std::uint64_t parent_start,
                         std::string_view begin, std::string_view end);
  // A span that never ended; call it for the outermost first. Returns `begin` and then the packets that were
  // held for it; valid until the next call.
  std::string_view never_ended(std::size_t depth, std::uint64_t start, std::string_view begin);
  // All that is still held.
  std::string rest();

 private:
  struct Held {
    std::size_t depth;    // of the span that is waited for
    std::uint64_t start;  // its start
    std::string packets;
  };
  std::vector<Held> held_;    // the deepest last
  std::string ready_, span_;  // the result; the packets of the current span
};

}  // namespace lotus::analyzer
