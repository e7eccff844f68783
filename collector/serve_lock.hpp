// The lock that the serving collector of a directory holds (lotus/segment.hpp: kCollectorLock).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "directory.hpp"
#include "fd.hpp"

namespace lotus::collector {

class ServeLock {
 public:
  enum class Result : std::uint8_t { taken, held, failed };

  // How often to try. Traced processes hold the lock for an instant to see whether a collector serves, so a
  // single failure proves nothing.
  enum class Try : std::uint8_t { once, for_50_ms };
  // Takes the lock of `directory` and writes the collector's pid into it. `failed`: `why` has the reason.
  Result take(const Directory& directory, Try patience, std::string& why);
  void release() { fd_.reset(); }

  // False once the lock file was deleted or replaced: then another collector can lock its successor.
  bool in_place(const Directory& directory) const;
  bool held() const { return static_cast<bool>(fd_); }

  // The pid in the lock file of `directory`; 0 if there is none.
  static std::uint32_t holder(const Directory& directory);
  // Whether a collector serves `directory`.
  static bool held_by_another(const Directory& directory);

  // Publishes `text` in the lock file. On a full file system there is no text.
  void publish(std::string_view text) const;
  // The text that the holder published last. Empty if there is none, or if each try met a half-written one.
  static std::string published(const Directory& directory);

 private:
  Fd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace lotus::collector
