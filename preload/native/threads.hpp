// Threads that the program is about to start.
#pragma once

namespace lotus {

// In a forked child: none of its parent's threads will begin here.
void forget_starts();

}  // namespace lotus
