// The end of a container: when what it runs ends, all other processes are killed, the collector too.
#pragma once

namespace lotus {

// At the end of a process. In a container, the one that the trace is of (the first process of all, or what
// an init or a script started) waits until the collector has written the trace, at most some seconds; all
// others return at once. Safe in handlers of signals, and in a child of vfork, which is not waited for.
void wait_for_trace();

}  // namespace lotus
