// The calls on the way to a line, of which its place tells: all that are open, but of a recursion only so
// many turns, or there would be as many places as there are ways through it.
//
// A function of the program's own is told at most kOwnTurns times, and then as its last call; what is called
// there is told as called by that one. A library's function, such as that by which a module calls another,
// is told kLibraryTurns times between two of the program's own. So the program's own line on the way to a
// place is never left out. Where many places are known, each is told once.
#pragma once

#include <cstdint>

#include "operators/own_frames.hpp"

namespace lotus {

struct ChainLink {
  const KnownCode* code;    // nullptr: not known
  std::uint32_t called_at;  // the parent of its places
};

// Of the one thread that trains. Calls end in the opposite order. All zero at first: it takes no room in the
// file.
class CallChain {
 public:
  struct Joined {
    std::uint32_t length;     // of the chain with the call at its end
    std::uint32_t called_at;  // the parent of the call's places
    ChainLink before;         // what the call's link is in place of
  };

  // A call, at `place` in the call at the end of a chain of `length`.
  Joined join(std::uint32_t length, const KnownCode* code, std::uint32_t place);
  void leave(const Joined& joined) { links_[joined.length - 1] = joined.before; }

 private:
  static constexpr std::uint32_t kMostLinks = 512;
  static constexpr std::uint32_t kOwnTurns = 2, kLibraryTurns = 8;

  std::uint32_t same_call(std::uint32_t length, const KnownCode& code) const;

  ChainLink links_[kMostLinks] = {};
};

}  // namespace lotus
