// Watches the directories that traced processes may put their segments in, as the one collector that
// serves them.
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
  // Opens and locks every candidate that is there and ours. Create::yes: if there is none, the first one
  // that can be made is made. May be called again to pick up what appeared since.
  Attached attach(Directory::Create create, ServeLock::Try patience);

  // Segments that were not found before, ready to be read. Says once what it leaves alone, and why.
  std::vector<std::unique_ptr<Segment>> scan();
  // Some segments are still being made.
  bool any_waiting() const;

  // To be called now and then: follows directories and lock files that were deleted or replaced. Throws
  // std::runtime_error if another collector has taken over what this one serves.
  void check_places();

  // Leaves `text` for `lotus-collector --status` in every directory that is served.
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
    timespec changed{};  // what was refused is looked at again after a change
  };
  struct Watched {
    std::string path;
    std::shared_ptr<Directory> directory;  // nullptr: not there, or not ours to serve
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
