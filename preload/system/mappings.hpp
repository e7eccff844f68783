// The files that are mapped in this process, as the kernel tells: no lock of the loader's is taken. Those who
// walk its list wait for the interpreter's lock meanwhile (threadpoolctl does), and up to glibc 2.39 a forked
// child inherits its lock in whatever state it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "system/files.hpp"

namespace lotus {

struct Mapping {
  std::uint64_t start = 0, end = 0, offset = 0;  // offset: in the file
  std::uint64_t device = 0, inode = 0;
  bool executable = false;
  bool writable = false;  // and not shared with other processes
  std::string_view path;  // valid until the next one; "" for memory without a file, "[vdso]"
};

// Goes through /proc/self/maps, in order of addresses.
class Mappings {
 public:
  // False: there are no more.
  bool next(Mapping& mapping);

 private:
  bool fill();

  static constexpr std::size_t kBytes = 6144;  // the longest path with what stands before it, and some more
  RawFile file_{"/proc/self/maps"};
  std::size_t begin_ = 0, end_ = 0;  // of what is not parsed yet
  char text_[kBytes];
};

// Copies memory of this process that may not be there; returns how many bytes could be read. By a system
// call, and without a file descriptor: the program may have none left.
std::size_t read_own_memory(std::uint64_t address, void* to, std::size_t bytes);

// The same for many reads: faster, where the file may be opened.
class OwnMemory {
 public:
  // Copies up to `bytes`; returns how many could be read.
  std::size_t read(std::uint64_t address, void* to, std::size_t bytes) const;
  template <class T>
  bool read(std::uint64_t address, T& to) const {
    return read(address, &to, sizeof to) == sizeof to;
  }

 private:
  RawFile file_{"/proc/self/mem"};
};

// Executable memory that is mapped, in KiB: changes when something is loaded or unloaded. 0: not known.
std::uint64_t mapped_code_kib();

}  // namespace lotus
