#include "output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr int kMaxNumbered = 1000;
constexpr std::uint32_t kMaxHeader = 1u << 20;  // bytes; headers of all versions are smaller

enum class Found : std::uint8_t { nothing, empty, same_session, other_trace, foreign, in_use, error };

struct Candidate {
  Found found = Found::error;
  Fd fd;  // open and locked if the trace can be written to this file
  std::uint64_t size = 0;
  FileHeader header{};
  int error = 0;  // errno, where found is error
};

constexpr int kReadersPatience =
    50;  // times a millisecond: readers ask for the lock to see whether it is held

// The lock keeps other collectors off; a file system that has no locks is used without one.
bool lock_file(int fd, int patience = 0) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return true;
    if (--patience < 0) return false;
    usleep(1000);
  }
  return true;
}

// Whether the header is the one of the session. If any of these fields differs, the header is damaged, and
// the frames behind it cannot be trusted.
bool is_of(const FileHeader& header, const FileHeader& identity) {
  return header.version == kTraceVersion && header.header_bytes >= sizeof(FileHeader) &&
         header.header_bytes <= kMaxHeader && header.session_pid == identity.session_pid &&
         header.session_start_time == identity.session_start_time &&
         header.clock_source == identity.clock_source && header.tick_shift == identity.tick_shift;
}

Found classify(Candidate& file, const FileHeader& identity) {
  struct stat status {};
  if (fstat(file.fd.get(), &status) != 0) {
    file.error = errno;
    return Found::error;
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) return Found::foreign;
  file.size = static_cast<std::uint64_t>(status.st_size);
  const ssize_t got = pread(file.fd.get(), &file.header, sizeof file.header, 0);
  if (got < 0) return Found::foreign;
  const bool whole = got == static_cast<ssize_t>(sizeof file.header);
  const bool lotus = got >= static_cast<ssize_t>(sizeof kTraceMagic) &&
                     std::memcmp(file.header.magic, kTraceMagic, sizeof kTraceMagic) == 0;
  if (got > 0 && !lotus) return Found::foreign;
  const bool same = whole && file.header.header_bytes <= file.size && is_of(file.header, identity);
  if (!same && whole && is_reserved(file.size, status.st_mtime, time(nullptr))) return Found::in_use;
  if (!lock_file(file.fd.get(), same ? kReadersPatience : 0)) return Found::in_use;
  if (got == 0) return Found::empty;
  return same ? Found::same_session : Found::other_trace;
}

Candidate look_at(const std::string& path, const FileHeader& identity) {
  Candidate file;
  file.fd.reset(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  file.error = errno;
  if (file.fd) {
    file.found = classify(file, identity);
    return file;
  }
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) {
    file.found = Found::foreign;
  } else {
    file.found = file.error == ENOENT ? Found::nothing : Found::error;
  }
  return file;
}

std::unique_ptr<TraceFile> start_trace(Fd fd, const std::string& path, const FileHeader& identity) {
  auto file = std::make_unique<TraceFile>(std::move(fd), path, 0, std::vector<IndexEntry>{});
  file->add_file_header(identity);
  return file;
}

OpenedOutput create(const std::string& path, const FileHeader& identity) {
  Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return {nullptr, std::nullopt, errno};
  lock_file(fd.get());
  return {start_trace(std::move(fd), path, identity), std::nullopt, 0};
}

OpenedOutput resume(Candidate file, const std::string& path, Log& log) {
  if (file.size == file.header.header_bytes)  // taken by the program
    return {std::make_unique<TraceFile>(std::move(file.fd), path, file.size, std::vector<IndexEntry>{}),
            std::nullopt, 0};
  ScannedTrace scanned = scan_trace(file.fd.get(), file.size, file.header.header_bytes);
  if (scanned.end < file.size && ftruncate(file.fd.get(), static_cast<off_t>(scanned.end)) != 0)
    return {nullptr, std::nullopt, errno};
  if (scanned.damaged_bytes > 0)
    log.error("{}: {} bytes between its frames are damaged; they are left as they are", printable(path),
              scanned.damaged_bytes);
  auto trace = std::make_unique<TraceFile>(std::move(file.fd), path, scanned.end, scanned.index);
  return {std::move(trace), std::move(scanned), 0};
}

// Renames a trace of another session, unless that would overwrite a third file.
bool set_aside(const std::string& path, const FileHeader& identity, Log& log) {
  const std::string old = path + ".old";
  const Found there = look_at(old, identity).found;
  const bool free = there == Found::nothing || there == Found::other_trace || there == Found::empty;
  if (!free || rename(path.c_str(), old.c_str()) != 0) return false;
  log.note("{}: the trace of another program was there; it is now {}.old", printable(path), printable(path));
  return true;
}

bool usable(Found found) {
  return found == Found::nothing || found == Found::empty || found == Found::same_session;
}

OpenedOutput use(Candidate file, const std::string& path, const FileHeader& identity, Log& log) {
  if (file.found == Found::nothing) return create(path, identity);
  if (file.found == Found::empty) return {start_trace(std::move(file.fd), path, identity), std::nullopt, 0};
  return resume(std::move(file), path, log);
}

const char* why_not(Found found) {
  if (found == Found::in_use) return "another collector or program's trace is being written there";
  if (found == Found::other_trace) return "another program's trace is there and cannot be renamed";
  return "a file that is not Lotus' is there and is left alone";
}

}  // namespace

OpenedOutput open_output(const std::string& path, const FileHeader& identity, Log& log) {
  Candidate file = look_at(path, identity);
  if (file.found == Found::other_trace && set_aside(path, identity, log)) file = look_at(path, identity);
  if (file.found == Found::error) return {nullptr, std::nullopt, file.error};
  if (usable(file.found)) return use(std::move(file), path, identity, log);
  const char* why = why_not(file.found);
  for (int i = 1; i <= kMaxNumbered; ++i) {
    const std::string numbered = fmt::format("{}.{}", path, i);
    file = look_at(numbered, identity);
    if (file.found == Found::error) return {nullptr, std::nullopt, file.error};
    if (!usable(file.found)) continue;
    OpenedOutput opened = use(std::move(file), numbered, identity, log);
    if (opened.file) log.error("{}: {}: the trace goes to {}", printable(path), why, printable(numbered));
    return opened;
  }
  return {nullptr, std::nullopt, EEXIST};
}

}  // namespace lotus::collector
