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
    const KnownCode* code_before;    // what the call's link is in place of: its code, …
    std::uint32_t called_at_before;  // … and the rest of it
    std::uint32_t length;            // of the chain with the call at its end
    std::uint32_t called_at;         // the parent of the call's places
  };

  // A call, at `place` in the call at the end of a chain of `length`.
  Joined join(std::uint32_t length, const KnownCode* code, std::uint32_t place) {
    const std::uint32_t same = code != nullptr && code->active != 0 ? same_call(length, *code, place) : 0;
    const std::uint32_t joined = same != 0 ? same : length < kMostLinks ? length + 1 : kMostLinks;
    ChainLink& link = links_[joined - 1];
    const Joined made{link.code, link.called_at, joined, same != 0 ? link.called_at : place};
    link.code = code;
    link.called_at = made.called_at;
    return made;
  }
  void leave(const Joined& joined) {
    ChainLink& link = links_[joined.length - 1];
    link.code = joined.code_before;
    link.called_at = joined.called_at_before;
  }

 private:
  static constexpr std::uint32_t kMostLinks = 512;
  static constexpr std::uint32_t kOwnTurns = 2, kLibraryTurns = 8;

  // What was found for a call of a function at a place, which tells all the chain before it: the length of
  // the chain whose last call it is told as; 0: it is told itself. After most of the places, those of several
  // chains may be one, so that it is looked at whether it is there.
  struct Found {
    std::uint32_t place, code, same;
  };
  static constexpr std::uint32_t kFound = 256;  // a power of two

  std::uint32_t same_call(std::uint32_t length, const KnownCode& code, std::uint32_t place) {
    Found& found = found_[(place * 31 + code.id) % kFound];
    if (place == 0 || found.place != place || found.code != code.id)
      found = {place, code.id, look_for(length, code)};
    const std::uint32_t same = found.same;
    return same <= length && (same == 0 || links_[same - 1].code == &code) ? same : look_for(length, code);
  }
  std::uint32_t look_for(std::uint32_t length, const KnownCode& code) const;

  ChainLink links_[kMostLinks] = {};
  Found found_[kFound] = {};
};

}  // namespace lotus
