// LOTUS_COUNTERS=list: what this machine can count.
#pragma once

namespace lotus {

// Asks the kernel for each counter there is, and says line by line which of them it counts for the calling
// thread, which not and why, and how much of each set.
void list_counters(void (*say_line)(const char* line));

}  // namespace lotus
