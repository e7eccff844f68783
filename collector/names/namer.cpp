#include "namer.hpp"

#include <optional>

#include "names/symbols.hpp"
#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr const char* kUnknown = "[unknown]";

}  // namespace

void name_locations(Stacks& stacks, Log& log) {
  const auto addresses = stacks.store.unnamed();
  std::optional<Symbols> symbols;
  BinaryId current = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const BinaryId binary = binary_of(addresses[i]);
    const Binary& info = stacks.binaries.info(binary);
    if (info.path == kUnknown) {
      stacks.store.name(addresses[i], {{{kUnknown, "", 0, NameSource::unknown}, 0}});
      continue;
    }
    if (binary != current) {
      current = binary;
      if (log.shows_progress())
        log.progress(
            fmt::format("naming {} of {} addresses: {}", i + 1, addresses.size(), printable(info.path)));
      symbols.emplace(info, stacks.binaries.file(binary));
    }
    stacks.store.name(addresses[i], symbols->find(binary, offset_of(addresses[i]), stacks.unwinder));
  }
}

}  // namespace lotus::collector
