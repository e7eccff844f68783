// Files that a thread opens again and again while it makes batches.
#pragma once

#include <cstdint>
#include <string_view>

#include "record/chunk.hpp"

namespace lotus {

// How a file that was opened last is told from others when something is read: its descriptor or its stream.
constexpr std::uintptr_t handle_of_descriptor(std::uintptr_t descriptor) {
  return static_cast<std::uintptr_t>(static_cast<std::uint32_t>(descriptor)) + 1;
}

// Counts a file that `thread`, the calling one, has opened to read it. Of many files the most often opened
// ones are kept. A signal handler that comes in between and opens a file itself is not counted.
void count_opened(Thread& thread, std::string_view path, std::uintptr_t handle);

// The same thread has read so many bytes of the file that it opened last.
void count_reread(Thread& thread, std::uint64_t bytes);
inline void count_read(Thread& thread, std::uintptr_t handle, std::uint64_t bytes) {
  if (thread.opened_handle == handle) [[unlikely]]
    count_reread(thread, bytes);
}

// Records the calling thread's files that were opened twice as often as when they were recorded last, …
void tell_reopened();
// … or more often at all, because nothing more may come.
void tell_all_reopened();

}  // namespace lotus
