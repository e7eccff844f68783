// Which trace this process belongs to, and where things lie on disk.
//
// A session is one traced program with all its descendants. A forked child inherits it in memory; a
// spawned one finds it in the segment of its nearest traced ancestor; the ranks of a distributed run, whose
// launcher records nothing itself, meet in a session with the launcher's name. A process that has none of
// these is the first of a session of its own. One process of a session prints a line.
#pragma once

#include <cstdint>
#include <lotus/segment.hpp>

#include "system/files.hpp"

namespace lotus {

struct OwnSession {
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

extern OwnSession session;

// Fills `session`. False, with the reason in `remark`, when no directory for segments can be used.
bool find_session();

// The next place for segments, after session.directory turned out to be full. False: there is none.
bool next_directory();

// Whether this process is part of the session of one that is traced. Makes nothing.
bool has_traced_ancestor();

// OtherLoaders of that one; 0: none, or there is no such one.
std::uint32_t loaders_of_ancestor();

}  // namespace lotus
