#include "system/mark.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "system/files.hpp"
#include "system/identity.hpp"

namespace lotus {
namespace {

// As /proc/<pid>/maps shows it: /memfd:lotus-said (deleted).
constexpr const char* kName = "lotus-said";
constexpr std::string_view kShown = "/memfd:lotus-said";

bool is_marked(std::uint32_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%u/maps", pid);
  const RawFile maps(path);
  char text[4096];
  std::size_t kept = 0;  // the end of what was looked at, where the name may begin
  while (const std::size_t got = maps.read(text + kept, sizeof text - kept)) {
    const std::string_view all(text, kept + got);
    if (all.find(kShown) != all.npos) return true;
    kept = all.size() < kShown.size() ? all.size() : kShown.size() - 1;
    std::memmove(text, all.end() - kept, kept);
  }
  return false;
}

// nullptr: the kernel refused.
constinit bool* said = nullptr;

}  // namespace

void share_with_forks() {
  void* const memory = mmap(nullptr, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  said = memory != MAP_FAILED ? static_cast<bool*>(memory) : nullptr;
}

bool is_first_of_forks() { return said == nullptr || !__atomic_exchange_n(said, true, __ATOMIC_RELAXED); }

void mark_process() {
  constexpr unsigned kCloseOnExec = 1;  // MFD_CLOEXEC, which glibc names since 2.27
  const auto file = static_cast<int>(syscall(SYS_memfd_create, kName, kCloseOnExec));
  if (file < 0) return;
  // Never touched, and there for as long as the process is: it takes no memory.
  static_cast<void>(mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0));
  syscall(SYS_close, file);
}

bool is_marked_or_descends() {
  constexpr int kMostAncestors = 32;
  ProcessIdentity process = own_identity();
  for (int i = 0; i < kMostAncestors && process.pid > 0; ++i) {
    if (is_marked(process.pid)) return true;
    if (process.parent <= 1) return false;
    process = identify(process.parent);
  }
  return false;
}

}  // namespace lotus
