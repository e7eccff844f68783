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

  // How often to try: traced processes hold the lock for an instant while they look whether anybody
  // serves, so that once is not enough to know.
  enum class Try : std::uint8_t { once, for_50_ms };
  // Takes the lock of `directory` and writes our pid into it. `failed`: `why` says why.
  Result take(const Directory& directory, Try patience, std::string& why);
  void release() { fd_.reset(); }

  // False once the lock file was deleted or replaced: then others can take "the" lock as well.
  bool in_place(const Directory& directory) const;
  bool held() const { return static_cast<bool>(fd_); }

  // The pid in the lock file of `directory`; 0 if there is none.
  static std::uint32_t holder(const Directory& directory);
  // Somebody serves `directory`.
  static bool held_by_another(const Directory& directory);

  // Leaves `text` for others to read, in the lock file. Where there is no room for it, there is none.
  void publish(std::string_view text) const;
  // What the holder published last, empty if nothing, or if it writes just now and goes on doing so.
  static std::string published(const Directory& directory);

 private:
  Fd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace lotus::collector
