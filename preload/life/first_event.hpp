// What happens at a process's first event, and in a child of fork() before its own.
#pragma once

#include <cstdint>
#include <lotus/segment.hpp>

namespace lotus {

// Has the recorder call what is here. Called before anything can be recorded.
void prepare_first_event();

// Stops recording in this process for good.
void switch_off(OffReason reason, const char* line);

// In a forked child: it records as a process of its own, in its parent's session.
void become_child();

// A process that multiprocessing started: spawn's children, the fork server, the resource tracker.
bool is_helper_process();

}  // namespace lotus
