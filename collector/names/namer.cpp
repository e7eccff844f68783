#include "namer.hpp"

#include <limits>

#include "clock.hpp"
#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr const char* kUnknown = "[unknown]";

}  // namespace

Namer::Namer(Stacks& stacks, Log& log) : stacks_(stacks), log_(log), addresses_(stacks.store.unnamed()) {}

bool Namer::name_for(std::uint64_t ns) {
  const std::uint64_t begin = monotonic_ns();
  while (next_ < addresses_.size() && monotonic_ns() - begin < ns) name(addresses_[next_++]);
  return next_ == addresses_.size();
}

void Namer::name(std::uint64_t address) {
  const BinaryId binary = binary_of(address);
  const Binary& info = stacks_.binaries.info(binary);
  if (info.path == kUnknown) {
    stacks_.store.name(address, {{{kUnknown, "", 0, NameSource::unknown}, 0}});
    return;
  }
  if (binary != current_) {
    current_ = binary;
    if (log_.shows_progress())
      log_.progress(
          fmt::format("naming {} of {} addresses: {}", next_, addresses_.size(), printable(info.path)));
    symbols_.emplace(info, stacks_.binaries.file(binary));
  }
  stacks_.store.name(address, symbols_->find(binary, offset_of(address), stacks_.unwinder));
}

void name_locations(Stacks& stacks, Log& log) {
  Namer(stacks, log).name_for(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace lotus::collector
