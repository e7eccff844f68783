// Whether this thread is looking for garbage now: what CPython notes while it does. For signal handlers.
#pragma once

namespace lotus {

// Finds the note; hold the GIL, with no exception pending. Once it is found, a forked child knows it too.
void find_collecting();

// Async-signal-safe. False also where the note was not found.
bool is_collecting();

// Whether the note was found.
bool knows_collecting();

}  // namespace lotus
