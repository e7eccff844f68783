// The ELF files that traced code runs from. A file that several processes use, or under several paths, is
// kept once.
//
// Every binary gets a range of its own in a *common address space*, the same for all processes: unwinding
// rules that were worked out for one process then hold for its forked workers too, whatever is loaded or
// unloaded there. Common addresses lie far above any address that a process can have.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stacks/elf_file.hpp"

namespace lotus::collector {

inline constexpr std::uint64_t kCommonSpace = std::uint64_t{1} << 62;  // where common addresses begin
inline constexpr unsigned kBinaryBits = 36;                            // a binary's range: 64 GiB
inline constexpr std::size_t kMaxBinaries = 65536;                     // of all processes together

// Number of a binary, from 1.
using BinaryId = std::uint32_t;
// Number of a place in code in the trace, from 1 (stack_store.hpp).
using LocationId = std::uint32_t;

constexpr std::uint64_t common_address(BinaryId binary, std::uint64_t offset) {
  return kCommonSpace + (std::uint64_t{binary} << kBinaryBits) + offset;
}
constexpr bool is_common(std::uint64_t address) { return address >= kCommonSpace; }
constexpr BinaryId binary_of(std::uint64_t address) {
  return static_cast<BinaryId>((address - kCommonSpace) >> kBinaryBits);
}
constexpr std::uint64_t offset_of(std::uint64_t address) {
  return address & ((std::uint64_t{1} << kBinaryBits) - 1);
}

struct Binary {
  std::string path;       // in the first process that used it
  std::string build_id;   // hex, may be empty
  std::uint32_t pid = 0;  // that process; it may have another root directory than the collector
};

class Binaries {
 public:
  // The number of the binary with this build id, or of this path where it has none. `pid`: a process that
  // has it loaded.
  BinaryId add(const std::string& path, const std::string& build_id, std::uint32_t pid);

  // A forked process has it loaded, too.
  void add_process(BinaryId id, std::uint32_t pid);

  // Adds a binary under the id that an earlier collector gave it. Ids must come in ascending order. False:
  // the binary cannot have this id.
  bool restore(BinaryId id, const std::string& path, const std::string& build_id);

  std::size_t count() const { return all_.size(); }
  // Whether the address is in the range of a binary. Damaged unwind tables and traces contain others.
  bool contains(std::uint64_t address) const {
    return is_common(address) && binary_of(address) >= 1 && binary_of(address) <= all_.size();
  }
  const Binary& info(BinaryId id) const { return all_[id - 1].info; }
  // Its file, opened at the first call; nullptr if there is none with the same build id.
  const ElfFile* file(BinaryId id);

 private:
  struct Entry {
    Binary info;
    std::unique_ptr<ElfFile> file;
    bool tried = false;
  };
  std::vector<Entry> all_;
  std::map<std::string, BinaryId> ids_;  // by build id, or by path with a leading '/'
};

}  // namespace lotus::collector
