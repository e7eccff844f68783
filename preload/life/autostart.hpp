// Starting lotus-collector from inside the traced process, without that process noticing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "system/files.hpp"

namespace lotus {

enum class CollectorStart {
  serving,  // one serves the directory already
  started,
  absent,  // no executable beside the library
  failed,  // it could not be started
};

// Remembers where this library lies, which a relative LD_PRELOAD tells only while the working directory is
// still the first. Called before the program's own code runs.
void remember_library();

// A collector holds the lock of session.directory. Safe in handlers of signals.
bool is_served();

// Whether the collector with this pid is not the one beside this library; `program` is its path then.
bool is_of_another_installation(std::uint32_t collector, char (&program)[kPathBytes]);

// This process started one so lately that it may not have the lock yet. Safe in handlers of signals.
bool was_started_just_now();

// Starts lotus-collector for session.directory unless one holds its lock. The collector is nobody's
// child: it is reparented at once, gets no descriptor of this process, no LD_PRELOAD, a session of its own,
// default signals; no atfork handler runs and no SIGCHLD arrives here.
CollectorStart ensure_collector();

// Runs `lotus-collector OPTION ARGUMENT` as a helper and reads what it writes, for 3 s at most; `answer` ends
// with a 0. False: it could not be run, or ended without a word. As ensure_collector(), the program does not
// notice it.
bool ask_collector(const char* option, const char* argument, char* answer, std::size_t size);

// Says once on stderr when the collector that was started did not stay: a libc that is too old for it, say.
// Costs nothing before `kUntilItReads` and after the first look. Only in the process that announced the
// trace.
void check_collector();

}  // namespace lotus
