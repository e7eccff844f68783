#include "system/mappings.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "system/files.hpp"

namespace lotus {
namespace {

// A number that ends where something else stands; `at` is moved behind that.
std::uint64_t number(char*& at, int base) {
  char* end = at;
  const std::uint64_t value = std::strtoull(at, &end, base);
  at = *end == '\0' ? end : end + 1;
  return value;
}

// start-end perms offset major:minor inode path
void parse(char* line, Mapping& mapping) {
  char* at = line;
  mapping.start = number(at, 16);
  mapping.end = number(at, 16);
  mapping.executable = std::strlen(at) > 4 && at[2] == 'x';
  mapping.writable = std::strlen(at) > 4 && at[1] == 'w' && at[3] == 'p';
  at += mapping.executable || std::strlen(at) > 4 ? 5 : 0;
  mapping.offset = number(at, 16);
  mapping.device = number(at, 16) << 32;
  mapping.device |= number(at, 16);
  mapping.inode = number(at, 10);
  while (*at == ' ') ++at;
  mapping.path = at;
}

}  // namespace

bool Mappings::fill() {
  std::memmove(text_, text_ + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::size_t got = file_.read(text_ + end_, sizeof text_ - end_);
  end_ += got;
  return got > 0;
}

bool Mappings::next(Mapping& mapping) {
  for (;;) {
    char* const line = text_ + begin_;
    auto* const line_end = static_cast<char*>(std::memchr(line, '\n', end_ - begin_));
    if (line_end == nullptr) {
      if (end_ - begin_ == sizeof text_) begin_ = end_;  // longer than any: left out
      if (!fill()) return false;
      continue;
    }
    *line_end = '\0';
    begin_ = static_cast<std::size_t>(line_end + 1 - text_);
    parse(line, mapping);
    return true;
  }
}

std::size_t read_own_memory(std::uint64_t address, void* to, std::size_t bytes) {
  const iovec target{to, bytes};
  const iovec source{reinterpret_cast<void*>(address), bytes};
  const long got = syscall(SYS_process_vm_readv, getpid(), &target, 1, &source, 1, 0);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::size_t OwnMemory::read(std::uint64_t address, void* to, std::size_t bytes) const {
  // A process that changed its user may not open it.
  return file_ ? file_.read_at(address, to, bytes) : read_own_memory(address, to, bytes);
}

std::uint64_t mapped_code_kib() {
  char text[2048];
  read_file("/proc/self/status", text, sizeof text);
  const char* line = std::strstr(text, "\nVmLib:");
  return line == nullptr ? 0 : std::strtoull(line + 7, nullptr, 10);
}

}  // namespace lotus
