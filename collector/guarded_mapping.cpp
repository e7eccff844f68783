#include "guarded_mapping.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <cerrno>
#include <mutex>

namespace lotus::collector {
namespace {

// SIGBUS is delivered to the thread that touched the page, so each thread only needs a list of its own
// mappings.
thread_local GuardedMapping* first_mapping = nullptr;

void on_bus_error(int signal, siginfo_t* info, void* /*context*/) {
  const int saved = errno;
  // Not in a guarded mapping: the instruction is tried again and ends the process.
  if (!GuardedMapping::repair(info->si_addr)) ::signal(signal, SIG_DFL);
  errno = saved;
}

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

std::unique_ptr<GuardedMapping> GuardedMapping::map(int fd, std::size_t bytes) {
  return map(fd, bytes, MAP_SHARED);
}

std::unique_ptr<GuardedMapping> GuardedMapping::map_private(int fd, std::size_t bytes) {
  // Writable, because libelf marks a decompressed section in its section header.
  return map(fd, bytes, MAP_PRIVATE);
}

std::unique_ptr<GuardedMapping> GuardedMapping::map(int fd, std::size_t bytes, int flags) {
  static std::once_flag installed;
  std::call_once(installed, install_handler);
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (data == MAP_FAILED) return nullptr;
  return std::unique_ptr<GuardedMapping>(new GuardedMapping(static_cast<std::uint8_t*>(data), bytes));
}

GuardedMapping::GuardedMapping(std::uint8_t* data, std::size_t size)
    : data_(data), size_(size), next_(first_mapping) {
  if (next_ != nullptr) next_->previous_ = this;
  first_mapping = this;
}

GuardedMapping::~GuardedMapping() {
  (previous_ != nullptr ? previous_->next_ : first_mapping) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  munmap(data_, size_);
}

bool GuardedMapping::repair(const void* address) {
  const auto* at = static_cast<const std::uint8_t*>(address);
  for (auto* mapping = first_mapping; mapping != nullptr; mapping = mapping->next_) {
    if (at < mapping->data_ || at >= mapping->data_ + mapping->size_) continue;
    mapping->torn_.store(true, std::memory_order_relaxed);
    return mmap(mapping->data_, mapping->size_, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

}  // namespace lotus::collector
