#pragma once

namespace lotus {

// Finds libc's own functions behind the interposed ones. Called once, before any thread exists.
void find_real_signals();

}  // namespace lotus
