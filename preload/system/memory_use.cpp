#include "system/memory_use.hpp"

#include <unistd.h>

#include <cstdlib>

#include "system/clock.hpp"
#include "system/files.hpp"
#include "system/mappings.hpp"

namespace lotus {
namespace {

constexpr std::uint64_t kPagesLookedAt = 512;
// Of an entry of /proc/self/pagemap.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63, kExclusive = std::uint64_t{1} << 56;

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

// A field of /proc/self/statm, from 0, in pages; 0: not known.
std::uint64_t statm(int field) {
  char text[128];
  read_file("/proc/self/statm", text, sizeof text);
  char* at = text;
  for (; field > 0; --field) std::strtoull(at, &at, 10);
  return std::strtoull(at, nullptr, 10);
}

}  // namespace

std::uint64_t resident_memory() {
  const std::uint64_t pages = statm(1);
  return pages > 0 ? pages * page_bytes() : UINT64_MAX;
}

std::uint64_t private_memory() {
  const std::uint64_t page = page_bytes();
  const std::uint64_t step = statm(5) / kPagesLookedAt + 1;  // of what is writable
  const RawFile pagemap("/proc/self/pagemap");
  Mappings mappings;
  Mapping mapping;
  std::uint64_t until_next =
      ticks_now() % step;  // pages; wherever: what is regular in memory must not matter
  std::uint64_t present = 0, exclusive = 0;
  while (pagemap && mappings.next(mapping)) {
    if (!mapping.writable || mapping.inode != 0) continue;
    const std::uint64_t pages = (mapping.end - mapping.start) / page;
    for (; until_next < pages; until_next += step) {
      std::uint64_t entry = 0;
      pagemap.read_at((mapping.start / page + until_next) * sizeof entry, &entry, sizeof entry);
      present += (entry & kPresent) != 0 ? 1 : 0;
      exclusive += (entry & kPresent) != 0 && (entry & kExclusive) != 0 ? 1 : 0;
    }
    until_next -= pages;
  }
  return present > 0 ? exclusive * step * page : UINT64_MAX;
}

}  // namespace lotus
