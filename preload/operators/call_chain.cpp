#include "operators/call_chain.hpp"

namespace lotus {

std::uint32_t CallChain::look_for(std::uint32_t length, const KnownCode& code) const {
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

}  // namespace lotus
