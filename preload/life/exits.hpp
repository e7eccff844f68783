#pragma once

namespace lotus {

// Before anything ends: finds libc's _exit().
void find_real_exits();

}  // namespace lotus
