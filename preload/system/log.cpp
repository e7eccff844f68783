#include "system/log.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "system/file_status.hpp"
#include "system/signal_mask.hpp"

namespace lotus {
namespace {

constinit dev_t stderr_device = 0;
constinit ino_t stderr_inode = 0;
constinit const char* log_file = nullptr;

// Nobody reads any more what is written, or a terminal stops those in its background that write: neither may
// end or stop the program.
class Unsignalled {
 public:
  Unsignalled() {
    sigset_t pending;
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    sigaddset(&set_, SIGTTOU);
    syscall(SYS_rt_sigpending, &pending, sizeof(std::uint64_t));
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    set_signal_mask(SIG_BLOCK, &set_, &saved_);
  }
  ~Unsignalled() {
    const timespec now{};
    sigdelset(&set_, SIGTTOU);
    if (!was_pending_) syscall(SYS_rt_sigtimedwait, &set_, nullptr, &now, sizeof(std::uint64_t));
    set_signal_mask(SIG_SETMASK, &saved_, nullptr);
  }
  Unsignalled(const Unsignalled&) = delete;
  Unsignalled& operator=(const Unsignalled&) = delete;

 private:
  sigset_t set_, saved_;
  bool was_pending_ = false;
};

void write_line(int descriptor, const char* line) {
  char text[4400];
  const int size = std::snprintf(text, sizeof text, "lotus: %s\n", line);
  if (size <= 0) return;
  const size_t bytes = static_cast<size_t>(size) < sizeof text ? static_cast<size_t>(size) : sizeof text - 1;
  const Unsignalled unsignalled;
  // A line that cannot be written is not worth more than the attempt.
  [[maybe_unused]] const ssize_t written = write(descriptor, text, bytes);
}

}  // namespace

void remember_stderr() {
  struct stat status {};
  if (!descriptor_status(STDERR_FILENO, status)) return;
  stderr_device = status.st_dev;
  stderr_inode = status.st_ino;
}

void log_to(const char* path) { log_file = path; }

void say(const char* line) {
  const int saved = errno;
  struct stat status {};
  const bool same = descriptor_status(STDERR_FILENO, status) && status.st_dev == stderr_device &&
                    status.st_ino == stderr_inode && stderr_inode != 0;
  if (same) write_line(STDERR_FILENO, line);
  note(line);
  errno = saved;
}

void note(const char* line) {
  if (log_file == nullptr) return;
  const int saved = errno;
  const int descriptor = open(log_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor >= 0) {
    write_line(descriptor, line);
    close(descriptor);
  }
  errno = saved;
}

}  // namespace lotus
