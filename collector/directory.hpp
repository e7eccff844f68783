// A directory of segments, held open: everything in it is named relative to the descriptor, so that
// the directory cannot be swapped meanwhile.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fd.hpp"

namespace lotus::collector {

class Directory {
 public:
  enum class Create : std::uint8_t { no, yes };
  enum class Result : std::uint8_t { opened, absent, refused };

  // Opens `path` if it is a directory (no symlink) of this user with mode 0700; Create::yes creates it first
  // if it does not exist. `refused`: `why` says what is wrong and what to do.
  Result open(const std::string& path, Create create, std::string& why);

  const std::string& path() const { return path_; }
  // open() created it.
  bool made() const { return made_; }
  int fd() const { return fd_.get(); }
  // True while `path` still leads to this directory.
  bool in_place() const;
  // Names of the files with a segment's suffix. False with errno set if the directory cannot be read.
  bool list_segments(std::vector<std::string>& names) const;

 private:
  std::string path_;
  bool made_ = false;
  Fd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace lotus::collector
