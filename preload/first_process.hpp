// The first process of a container: when it ends, all others are killed, the collector too.
#pragma once

namespace lotus {

// At the end of a process. The first one of a pid namespace waits until the collector has written its trace,
// at most some seconds; all others return at once.
void wait_for_trace();

}  // namespace lotus
