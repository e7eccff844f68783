// Which trace this process belongs to, and where things lie on disk.
//
// A session is one traced program with all its descendants. A forked child inherits it in memory; a
// spawned one finds it in the segment of its nearest traced ancestor; the ranks of a distributed run, whose
// launcher records nothing itself, meet in a session with the launcher's name. A process that has none of
// these is the first of a session of its own. One process of a session prints a line.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <lotus/segment.hpp>

namespace lotus {

inline constexpr std::size_t kPathBytes = sizeof(SegmentHeader::output);

struct Session {
  bool known = false;
  bool root = false;   // this process started it, alone or as one of the ranks
  bool first = false;  // this process speaks for it: the one that started it, or one of the ranks
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;
  int place = 0;                    // which of the places for segments `directory` is
  char directory[kPathBytes] = {};  // where this process's segment goes
  char program[sizeof(SegmentHeader::program)] = {};
  char output[kPathBytes] = {};
  char remark[512] = {};  // why `output` is not where it was asked for; "" if it is
};

extern Session session;

// Fills `session`. False, with the reason in `remark`, when no directory for segments can be used.
bool find_session();

// The next place for segments, after session.directory turned out to be full. False: there is none.
bool next_directory();

// `<directory>/<pid>-<start time>[.<number>].segment`; without number for 0.
void segment_path(char (&path)[kPathBytes], const char* directory, std::uint32_t pid,
                  std::uint64_t start_time, unsigned number = 0);

struct ProcessIdentity {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  std::uint64_t start_time = 0;  // 0: no such process
};
// From /proc/<pid>/stat.
ProcessIdentity identify(std::uint32_t pid);

// This process as /proc names it, as the collector will see it: after unshare(CLONE_NEWPID) that is another
// pid than getpid() says. Without /proc, what the kernel says.
ProcessIdentity own_identity();

// The inode of this process's pid namespace; 0: unknown.
std::uint64_t pid_namespace();

// The same in a container; 0 outside. See kInitialPidNamespace.
std::uint64_t container();

// Reads a small file whole; returns the bytes read (0 on any failure), NUL-terminates.
std::size_t read_file(const char* path, char* buffer, std::size_t size);

}  // namespace lotus
