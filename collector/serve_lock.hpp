// The lock that the serving collector of a directory holds (lotus/segment.hpp: kCollectorLock).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "directory.hpp"
#include "fd.hpp"

namespace lotus::collector {

class ServeLock {
 public:
  enum class Result : std::uint8_t { taken, held, failed };

  // Takes the lock of `directory` and writes our pid into it. Tries for some 50 ms, because traced
  // processes hold it for an instant while they look whether anybody serves. `failed`: `why` says why.
  Result take(const Directory& directory, std::string& why);
  void release() { fd_.reset(); }

  // False once the lock file was deleted or replaced: then others can take "the" lock as well.
  bool in_place(const Directory& directory) const;
  bool held() const { return static_cast<bool>(fd_); }

  // The pid in the lock file of `directory`; 0 if there is none.
  static std::uint32_t holder(const Directory& directory);

 private:
  Fd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace lotus::collector
