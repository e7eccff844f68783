#include "life/output_file.hpp"

#include <sys/file.h>
#include <sys/resource.h>
#include <time.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <lotus/trace.hpp>

#include "system/clock.hpp"
#include "system/file_status.hpp"

namespace lotus {
namespace {

constexpr int kMaxNumbered = 1000;
constexpr int kAttempts = 100;  // at one name, where others take files meanwhile: a millisecond each

enum class Found : std::uint8_t {
  free,
  ours,
  finished,
  busy,  // empty, and somebody takes it just now: perhaps another rank of this run
  taken,
  error
};

class File {
 public:
  File(const char* path, int flags)
      : descriptor_(static_cast<int>(
            syscall(SYS_openat, AT_FDCWD, path, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600))) {}
  ~File() {
    if (descriptor_ >= 0) syscall(SYS_close, descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  explicit operator bool() const { return descriptor_ >= 0; }
  bool status(struct stat& status) const { return descriptor_status(descriptor_, status); }
  // A file system that has no locks is used without them.
  bool lock() const { return flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }
  bool read(FileHeader& header) const {
    return syscall(SYS_pread64, descriptor_, &header, sizeof header, 0) == sizeof header;
  }
  bool write(const FileHeader& header) const {
    return syscall(SYS_pwrite64, descriptor_, &header, sizeof header, 0) == sizeof header;
  }
  bool is_at(const char* path) const {
    struct stat own {};
    struct stat there {};
    return status(own) && file_status(path, there, AT_SYMLINK_NOFOLLOW) && own.st_dev == there.st_dev &&
           own.st_ino == there.st_ino;
  }

 private:
  int descriptor_;
};

FileHeader header_of(std::uint32_t session_pid, std::uint64_t session_start_time) {
  FileHeader header{};
  std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
  header.version = kTraceVersion;
  header.header_bytes = sizeof header;
  header.session_pid = session_pid;
  header.clock_source = clock_source;
  header.session_start_time = session_start_time;
  header.created = clock_pair();
  header.tick_shift = kTickShift;
  return header;
}

bool can_write() {
  rlimit limit{};  // the kernel would send SIGXFSZ
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= sizeof(FileHeader);
}

Found what_is(const File& file, const FileHeader& identity) {
  struct stat status {};
  FileHeader header{};
  if (!file.status(status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) return Found::taken;
  if (status.st_size == 0) return Found::free;
  if (!file.read(header) || std::memcmp(header.magic, kTraceMagic, sizeof kTraceMagic) != 0)
    return Found::taken;
  if (header.session_pid == identity.session_pid &&
      header.session_start_time == identity.session_start_time &&
      header.clock_source == identity.clock_source)
    return Found::ours;  // of another rank of the same run
  if (is_reserved(static_cast<std::uint64_t>(status.st_size), status.st_mtime, time(nullptr)))
    return Found::taken;
  return Found::finished;
}

// Under its lock nobody else takes the file, unless it was taken before: then another stands at the path.
bool write_header(const File& file, const char* path, const FileHeader& identity) {
  struct stat status {};
  if (!file.lock() || !file.status(status) || status.st_size != 0 || !file.is_at(path)) return false;
  // Where there is no room now, the collector waits for it.
  if (can_write()) file.write(identity);
  return true;
}

bool set_aside(const File& file, const char* path, const FileHeader& identity) {
  char old[kPathBytes + 8];
  std::snprintf(old, sizeof old, "%s.old", path);
  if (!file.lock() || !file.is_at(path)) return false;
  {
    const File there(old, O_NONBLOCK);
    if (!there && errno != ENOENT) return false;
    const Found found = there ? what_is(there, identity) : Found::free;
    if (found != Found::free && found != Found::finished) return false;
    if (there && !there.lock()) return false;
  }
  return rename(path, old) == 0;
}

Found look_at(const char* path, const FileHeader& identity) {
  const File file(path, O_NONBLOCK);
  if (!file) {
    const int error = errno;
    struct stat status {};
    const bool there = file_status(path, status, AT_SYMLINK_NOFOLLOW);
    errno = error;
    return there ? Found::taken : error == ENOENT ? Found::free : Found::error;
  }
  const Found found = what_is(file, identity);
  if (found == Found::free && write_header(file, path, identity)) return Found::ours;
  if (found == Found::finished) return set_aside(file, path, identity) ? Found::free : Found::taken;
  return found == Found::free ? Found::busy : found;
}

void wait_a_moment() {
  const timespec moment{0, 1'000'000};
  syscall(SYS_nanosleep, &moment, nullptr);
}

// Takes the name, if nothing is in the way.
Found take(const char* path, const FileHeader& identity) {
  for (int i = 0; i < kAttempts; ++i) {
    const Found found = look_at(path, identity);
    if (found != Found::free && found != Found::busy) return found;
    if (found == Found::free) {
      const File made(path, O_CREAT | O_EXCL);
      if (!made && errno != EEXIST) return Found::error;
      if (made && write_header(made, path, identity)) return Found::ours;
    }
    if (i > 0) wait_a_moment();
  }
  return Found::taken;
}

}  // namespace

int take_output(char (&path)[kPathBytes], std::uint32_t session_pid, std::uint64_t session_start_time) {
  const FileHeader identity = header_of(session_pid, session_start_time);
  Found found = take(path, identity);
  for (int i = 1; found == Found::taken && i <= kMaxNumbered; ++i) {
    char numbered[kPathBytes + 8];
    if (std::snprintf(numbered, sizeof numbered, "%s.%d", path, i) >= static_cast<int>(kPathBytes))
      return ENAMETOOLONG;
    found = take(numbered, identity);
    if (found == Found::ours) std::memcpy(path, numbered, sizeof path);
  }
  return found == Found::ours ? 0 : found == Found::taken ? EEXIST : errno;
}

void give_back_output(const char* path, std::uint32_t session_pid, std::uint64_t session_start_time) {
  const File file(path, O_NONBLOCK);
  struct stat status {};
  const bool ours = file && what_is(file, header_of(session_pid, session_start_time)) == Found::ours;
  if (ours && file.lock() && file.status(status) && status.st_size == sizeof(FileHeader) && file.is_at(path))
    unlink(path);
}

}  // namespace lotus
