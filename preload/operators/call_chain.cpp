#include "operators/call_chain.hpp"

namespace lotus {

// The length of the chain whose last call one of `code` is told as; 0: there is none.
std::uint32_t CallChain::same_call(std::uint32_t length, const KnownCode& code) const {
  const std::uint32_t turns = many_places() ? 1 : code.is_own ? kOwnTurns : kLibraryTurns;
  std::uint32_t last = 0, met = 0;
  for (; length > 0; --length) {
    const KnownCode* const other = links_[length - 1].code;
    if (other == &code) {
      if (last == 0) last = length;
      if (++met == turns) return last;
    } else if (!code.is_own && other != nullptr && other->is_own) {
      break;
    }
  }
  return 0;
}

CallChain::Joined CallChain::join(std::uint32_t length, const KnownCode* code, std::uint32_t place) {
  const std::uint32_t same = code != nullptr && code->active != 0 ? same_call(length, *code) : 0;
  const std::uint32_t joined = same != 0 ? same : length < kMostLinks ? length + 1 : kMostLinks;
  ChainLink& link = links_[joined - 1];
  const ChainLink before = link;
  link = {code, same != 0 ? before.called_at : place};
  return {joined, link.called_at, before};
}

}  // namespace lotus
