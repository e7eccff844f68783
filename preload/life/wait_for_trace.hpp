// The end of a container: when what it runs ends, all other processes are killed, the collector too.
#pragma once

namespace lotus {

// At the end of a process. In a container, the one that the trace is of (the first process of all, what an
// init or a script started, each rank) waits until the collector has written the trace, or lets it go because
// others live on, at most some seconds. All others return at once. Safe in handlers of signals, and in a
// child of vfork, which does not wait.
void wait_for_trace();

}  // namespace lotus
