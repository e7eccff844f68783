#include "record/paths.hpp"

#include <cstring>

#include "record/this_thread.hpp"
#include "system/clock.hpp"

namespace lotus {

namespace {

void append_path(Thread* thread, std::uint64_t now, const char* path, std::size_t bytes) {
  if (bytes > kMaxPath) bytes = kMaxPath;
  detail::make_room(*thread);
  std::uint32_t shared = 0;
  while (shared < bytes && shared < thread->path_bytes && thread->path[shared] == path[shared]) ++shared;
  detail::append<Kind::path>(*thread, now, shared, std::string_view(path + shared, bytes - shared));
  std::memcpy(thread->path, path, bytes);
  thread->path_bytes = static_cast<std::uint32_t>(bytes);
}

}  // namespace

void record_path(const char* path, std::size_t bytes) {
  Thread* thread = current_thread();
  if (thread != nullptr) append_path(thread, ticks_now(), path, bytes);
}

void record_opened(Thread& thread, std::uint64_t now) {
  const std::uint32_t bytes = thread.opened_bytes;
  thread.opened_bytes = 0;
  append_path(&thread, now, thread.opened, bytes);
}

}  // namespace lotus
