// Watches the directories where traced processes may create their segments, and holds the locks that make
// this collector the only one that serves them.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "directory.hpp"
#include "log.hpp"
#include "segment.hpp"
#include "serve_lock.hpp"

namespace lotus::collector {

class SegmentFinder {
 public:
  // `paths`: the candidates, the preferred one first. `log` outlives the finder.
  SegmentFinder(const std::vector<std::string>& paths, Log& log);

  enum class Attached : std::uint8_t { serving, served_by_another, nowhere };
  // Opens and locks every candidate that exists and belongs to this user. Create::yes: if there is none,
  // creates the first one that can be created. May be called again for directories that appeared since.
  Attached attach(Directory::Create create, ServeLock::Try patience);

  // New segments, ready to be read. Files that are not used are logged once each, with the reason.
  std::vector<std::unique_ptr<Segment>> scan();
  // Some segments are still being made.
  bool any_waiting() const;

  // To be called regularly: follows directories and lock files that were deleted or replaced. Throws
  // std::runtime_error if another collector has taken over what this one serves.
  void check_places();

  // Publishes `text` for `lotus-collector --status` in every directory that is served.
  void publish(std::string_view text) const;

  // Releases the locks, then looks once more, because a traced process makes its segment first and looks
  // for a serving collector second. False: a segment was there and the lock is taken again.
  bool let_go();

  // Polls readable when a directory changed; negative if the kernel cannot tell.
  int notify_fd() const { return inotify_.get(); }
  void forget_notifications() const;

 private:
  enum class Seen : std::uint8_t { served, refused, waiting };
  struct Known {
    Seen seen = Seen::waiting;
    ino_t inode = 0;
    timespec changed{};  // a refused file is checked again after a change
  };
  struct Watched {
    std::string path;
    std::shared_ptr<Directory> directory;  // nullptr: does not exist, or must not be served
    ServeLock lock;
    std::map<std::string, Known> files;
  };

  ServeLock::Result attach_one(Watched& watched, Directory::Create create, ServeLock::Try patience);
  ServeLock::Result lock(Watched& watched, ServeLock::Try patience);
  void scan_one(Watched& watched, std::vector<std::unique_ptr<Segment>>& found);
  // `old`: it was last written to long ago.
  Seen look_at(const Watched& watched, const std::string& name, bool old,
               std::vector<std::unique_ptr<Segment>>& found);
  void refuse(const std::string& path, const SegmentVerdict& verdict);
  bool has_new_files(Watched& watched) const;
  bool take_back();

  Log& log_;
  Fd inotify_;
  std::uint64_t pid_namespace_ = 0;
  std::vector<Watched> watched_;
};

}  // namespace lotus::collector
