// Threads by the kernel's numbers.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace lotus {

inline std::uint32_t own_tid() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

inline bool is_main_thread() { return own_tid() == static_cast<std::uint32_t>(getpid()); }

// Whether no thread of this process has the number (any more). Changes errno.
inline bool thread_is_gone(std::uint32_t tid) {
  return syscall(SYS_tgkill, getpid(), static_cast<pid_t>(tid), 0) != 0 && errno == ESRCH;
}

}  // namespace lotus
