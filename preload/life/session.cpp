#include "life/session.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lotus/events.hpp>
#include <lotus/segment_places.hpp>
#include <lotus/trace.hpp>

#include "life/config.hpp"
#include "life/output_file.hpp"
#include "life/serving.hpp"
#include "pipeline/ranks.hpp"
#include "python/interpreter.hpp"
#include "record/segment.hpp"
#include "system/file_status.hpp"
#include "system/files.hpp"
#include "system/identity.hpp"

namespace lotus {

constinit OwnSession session{};

namespace {

// A directory of segments is ours alone; whatever else stands under that name is not used.
bool usable_directory(const char* path) {
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
  struct stat status {};
  return file_status(path, status, AT_SYMLINK_NOFOLLOW) && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid() && (status.st_mode & 07777) == 0700 && access(path, W_OK | X_OK) == 0;
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool name_place(int place, char (&path)[kPathBytes]) {
  char here[kPathBytes] = "";
  PlaceSettings settings;
  if (config.directory != nullptr) settings.directory = config.directory;
  if (config.directory != nullptr && !is_absolute(config.directory) && getcwd(here, sizeof here) != nullptr)
    settings.working_directory = here;
  settings.runtime = environment("XDG_RUNTIME_DIR");
  settings.temporary = environment("TMPDIR");
  settings.home = environment("HOME");
  settings.user = geteuid();
  settings.pid_namespace = pid_namespace();
  return segment_place(place, settings, path);
}

bool choose_directory(int first) {
  std::uint32_t other_version = 0;
  for (int place = first; place < kSegmentPlaces; ++place) {
    char path[kPathBytes];
    if (!name_place(place, path) || !usable_directory(path)) continue;
    const Serving by = serving(path);
    if (!by.reads_our_segments) {
      other_version = by.pid;
      continue;
    }
    std::memcpy(session.directory, path, sizeof path);
    session.place = place;
    return true;
  }
  if (other_version != 0)
    std::snprintf(session.remark, sizeof session.remark,
                  "the collector of another version of Lotus (pid %u) serves here: set LOTUS_DIR to another "
                  "directory, or wait for its end",
                  other_version);
  else if (config.directory != nullptr)
    std::snprintf(session.remark, sizeof session.remark,
                  "LOTUS_DIR=%.300s cannot be used: it must be a directory of yours with mode 0700",
                  config.directory);
  else
    std::snprintf(session.remark, sizeof session.remark,
                  "no directory for shared memory: "
                  "/dev/shm, $XDG_RUNTIME_DIR, $TMPDIR and $HOME cannot be written; set LOTUS_DIR");
  return false;
}

bool read_header(std::uint32_t pid, std::uint64_t start_time, SegmentHeader& header) {
  for (int place = 0; place < kSegmentPlaces; ++place) {
    char directory[kPathBytes];
    char path[kPathBytes];
    char bytes[sizeof(SegmentHeader) + 1];
    if (!name_place(place, directory)) continue;
    segment_path(path, directory, pid, start_time);
    if (read_file(path, bytes, sizeof bytes) != sizeof(SegmentHeader)) continue;
    std::memcpy(&header, bytes, sizeof header);
    if (header.magic == kSegmentMagic && header.version == kSegmentVersion &&
        header.schema_hash == kSchemaHash && header.ready == kReady)
      return true;
  }
  return false;
}

// The segment of the nearest ancestor that is traced already, or of what this process was before an exec.
bool find_ancestor(SegmentHeader& header) {
  std::uint32_t pid = own_identity().pid;
  for (int generation = 0; pid > 0 && generation < 64; ++generation) {
    const ProcessIdentity identity = identify(pid);
    if (identity.start_time == 0) return false;
    if (read_header(pid, identity.start_time, header)) return true;
    pid = identity.parent;
  }
  return false;
}

// It decides: its session becomes ours.
bool join_ancestor() {
  SegmentHeader header;
  if (!find_ancestor(header)) return false;
  session.pid = header.session_pid;
  session.start_time = header.session_start_time;
  std::snprintf(session.program, sizeof session.program, "%.255s", header.program);
  std::snprintf(session.output, sizeof session.output, "%.2047s", header.output);
  return true;
}

void make_file_name(char* text) {
  for (; *text != '\0'; ++text)
    if (static_cast<unsigned char>(*text) < 0x20 || *text == '/' || *text == 0x7f) *text = '_';
}

// The script's name without directory and suffix; `-m package.module` gives `module`, `-c` gives `python`. A
// program that embeds Python has its own name, and arguments that mean something else.
void name_program() {
  char arguments[4096];
  const std::size_t size = read_file("/proc/self/cmdline", arguments, sizeof arguments);
  const char* name = "python";
  const char* at = arguments;
  const char* end = arguments + size;
  const auto next = [&] { at += std::strlen(at) + 1; };
  if (at < end && !py::is_embedded()) next();
  for (; at < end; next()) {
    if (std::strcmp(at, "-c") == 0) break;
    if (std::strcmp(at, "-m") == 0) {
      next();
      const char* dot = at < end ? std::strrchr(at, '.') : nullptr;
      if (at < end) name = dot != nullptr ? dot + 1 : at;
      break;
    }
    if (std::strcmp(at, "-W") == 0 || std::strcmp(at, "-X") == 0) {
      next();
    } else if (at[0] != '-') {
      const char* slash = std::strrchr(at, '/');
      name = slash != nullptr ? slash + 1 : at;
      break;
    }
  }
  std::snprintf(session.program, sizeof session.program, "%.200s", name);
  char* suffix = std::strrchr(session.program, '.');
  if (suffix != nullptr && suffix != session.program && std::strcmp(suffix, ".py") == 0) *suffix = '\0';
  make_file_name(session.program);
}

// Containers that share a directory all have the same few pids; their hosts' names differ.
void default_file(char (&path)[kPathBytes], const char* directory) {
  char host[66] = "";
  if (container() != 0 && gethostname(host + 1, sizeof host - 1) == 0 && host[1] != '\0') host[0] = '-';
  make_file_name(host);
  std::snprintf(path, sizeof path, "%.1700s/lotus-%.150s%s-%u%s", directory, session.program, host,
                session.pid, kTraceSuffix);
}

// False: it does not fit.
bool asked_file(char (&path)[kPathBytes], const char* directory) {
  char asked[kPathBytes];
  const bool absolute = config.output[0] == '/';
  const int bytes = std::snprintf(asked, sizeof asked, "%s%s%s", absolute ? "" : directory,
                                  absolute ? "" : "/", config.output);
  std::memcpy(path, asked, sizeof asked);
  if (bytes >= static_cast<int>(sizeof asked)) return false;
  struct stat status {};
  if (file_status(asked, status) && S_ISDIR(status.st_mode)) default_file(path, asked);
  return true;
}

// 0, or errno.
int may_write(const char* path) {
  char parent[kPathBytes];
  std::snprintf(parent, sizeof parent, "%s", path);
  char* slash = std::strrchr(parent, '/');
  if (slash == nullptr || std::strlen(slash + 1) > NAME_MAX) return ENAMETOOLONG;
  slash[slash == parent ? 1 : 0] = '\0';
  return faccessat(AT_FDCWD, parent, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

// Where nobody goes on with the file now, it is not made: who does later says where the trace is.
int take(char (&path)[kPathBytes]) {
  const int error = may_write(path);
  if (error != 0 || !config.autostart) return error;
  return take_output(path, session.pid, session.start_time);
}

void name_output() {
  char directory[kPathBytes];
  if (getcwd(directory, sizeof directory) == nullptr) std::snprintf(directory, sizeof directory, "/");
  const bool asked = config.output != nullptr;
  bool fits = true;
  if (asked)
    fits = asked_file(session.output, directory);
  else
    default_file(session.output, directory);
  struct stat status {};
  const bool special = fits && file_status(session.output, status) && !S_ISREG(status.st_mode);
  const int error = !fits ? ENAMETOOLONG : special ? EEXIST : take(session.output);
  if (error == 0) return;
  std::snprintf(session.remark, sizeof session.remark, "%s%.300s cannot be written: %s%s",
                asked ? "LOTUS_OUTPUT=" : "", session.output,
                special ? "it is not a plain file" : std::strerror(error), asked ? "" : "; set LOTUS_OUTPUT");
  // NUL-terminated: the variable's whole value, or a literal.
  default_file(session.output, temporary_directory(environment("TMPDIR")).data());
  take(session.output);
}

}  // namespace

bool next_directory() { return choose_directory(session.place + 1); }

bool has_traced_ancestor() { return join_ancestor(); }

std::uint32_t loaders_of_ancestor() {
  SegmentHeader header;
  return find_ancestor(header) ? header.other_loaders : 0;
}

bool find_session() {
  if (session.known) return true;  // inherited by fork
  session = OwnSession{};
  if (!choose_directory(0)) return false;
  session.known = true;
  if (join_ancestor()) return true;
  session.root = session.first = true;
  const ProcessIdentity own = own_identity();
  session.pid = own.pid;
  session.start_time = own.start_time;
  if (const std::uint32_t launcher = launcher_of_ranks(); launcher != 0) {
    session.pid = launcher;
    session.start_time = identify(launcher).start_time;
    // One of them prints the line: the first of this machine, where that is known.
    const Rank& mine = rank_of_process();
    session.first = mine.local < 0 ? mine.rank == 0 : mine.local == 0;
  }
  name_program();
  name_output();
  return true;
}

}  // namespace lotus
