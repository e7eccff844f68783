// A shared mapping of a file that somebody may truncate at any time. Touching a page behind the new end
// would be a SIGBUS; here it turns the whole mapping into private zeros instead and marks it torn.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace lotus::collector {

class GuardedMapping {
 public:
  // Maps the first `bytes` bytes of `fd` for reading and writing; nullptr with errno set if it cannot.
  // A mapping is made, touched and destroyed by one thread only.
  static std::unique_ptr<GuardedMapping> map(int fd, std::size_t bytes);
  // The same as a private mapping: writes to it stay in this process. Later writes to the file may be visible
  // or not.
  static std::unique_ptr<GuardedMapping> map_private(int fd, std::size_t bytes);
  ~GuardedMapping();
  GuardedMapping(const GuardedMapping&) = delete;
  GuardedMapping& operator=(const GuardedMapping&) = delete;

  std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  // True once a page was missing: everything read since the last check may be zeros.
  bool torn() const { return torn_.load(std::memory_order_relaxed); }

  // For the SIGBUS handler: repairs the mapping of this thread that holds `address`, if there is one.
  static bool repair(const void* address);

 private:
  static std::unique_ptr<GuardedMapping> map(int fd, std::size_t bytes, int flags);
  GuardedMapping(std::uint8_t* data, std::size_t size);

  std::uint8_t* data_;
  std::size_t size_;
  std::atomic<bool> torn_{false};
  GuardedMapping* previous_ = nullptr;  // list of this thread's mappings
  GuardedMapping* next_ = nullptr;
};

}  // namespace lotus::collector
