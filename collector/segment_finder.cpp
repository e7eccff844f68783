#include "segment_finder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <stdexcept>

#include "process_watch.hpp"
#include "text.hpp"

namespace lotus::collector {
namespace {

std::uint64_t own_pid_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

// A process completes its segment within milliseconds; after this time it counts as abandoned. A collector
// waits this long for an incomplete segment whose process is gone or is not visible to it.
constexpr std::time_t kMakingSeconds = 10;

bool is_old(const struct stat& status) { return std::time(nullptr) - status.st_mtime > kMakingSeconds; }

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// Whether the process in a segment's name is gone, or in another pid namespace.
bool maker_is_dead(const std::string& name) {
  const auto maker = parse_segment_name(name);
  return !maker || presence_of(maker->pid, maker->start_time) == Presence::ended;
}

}  // namespace

SegmentFinder::SegmentFinder(const std::vector<std::string>& paths, Log& log)
    : log_(log), inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)), pid_namespace_(own_pid_namespace()) {
  for (const std::string& path : paths) watched_.emplace_back().path = path;
}

SegmentFinder::Attached SegmentFinder::attach(Directory::Create create, ServeLock::Try patience) {
  const auto attach_with = [&](Directory::Create how) {
    Attached result = Attached::nowhere;
    for (Watched& watched : watched_) {
      const bool settled = result == Attached::serving;
      const auto taken = attach_one(watched, settled ? Directory::Create::no : how, patience);
      if (taken == ServeLock::Result::taken) result = Attached::serving;
      if (taken == ServeLock::Result::held && !settled) result = Attached::served_by_another;
    }
    return result;
  };
  const Attached there = attach_with(Directory::Create::no);
  return there == Attached::nowhere && create == Directory::Create::yes ? attach_with(create) : there;
}

ServeLock::Result SegmentFinder::attach_one(Watched& watched, Directory::Create create,
                                            ServeLock::Try patience) {
  if (watched.directory) return ServeLock::Result::taken;
  auto directory = std::make_shared<Directory>();
  std::string why;
  if (directory->open(watched.path, create, why) != Directory::Result::opened) {
    if (!why.empty()) log_.error_once(why);
    return ServeLock::Result::failed;
  }
  // Otherwise a misspelt directory would be served for ever, unnoticed.
  if (directory->made() && watched_.size() == 1)
    log_.note_once(fmt::format("made {}, which was not there; traced programs must have the same LOTUS_DIR",
                               printable(watched.path)));
  watched.directory = std::move(directory);
  watched.files.clear();
  const ServeLock::Result result = lock(watched, patience);
  if (result != ServeLock::Result::taken) {
    watched.directory.reset();
  } else if (inotify_) {
    inotify_add_watch(inotify_.get(), fmt::format("/proc/self/fd/{}", watched.directory->fd()).c_str(),
                      IN_CREATE | IN_MOVED_TO | IN_ATTRIB);
  }
  return result;
}

ServeLock::Result SegmentFinder::lock(Watched& watched, ServeLock::Try patience) {
  std::string why;
  const ServeLock::Result result = watched.lock.take(*watched.directory, patience, why);
  if (result == ServeLock::Result::failed) log_.error_once(why);
  if (result == ServeLock::Result::held)
    log_.note_once(fmt::format("already serving {} (pid {})", printable(watched.path),
                               ServeLock::holder(*watched.directory)));
  return result;
}

std::vector<std::unique_ptr<Segment>> SegmentFinder::scan() {
  std::vector<std::unique_ptr<Segment>> found;
  for (Watched& watched : watched_)
    if (watched.directory) scan_one(watched, found);
  return found;
}

void SegmentFinder::scan_one(Watched& watched, std::vector<std::unique_ptr<Segment>>& found) {
  std::vector<std::string> names;
  if (!watched.directory->list_segments(names)) {
    log_.error_once(fmt::format("{}: {}; it is tried again", printable(watched.path), reason(errno)));
    return;  // nothing changed since the last look
  }
  std::map<std::string, Known> files;
  for (const std::string& name : names) {
    struct stat status {};
    if (fstatat(watched.directory->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const auto before = watched.files.find(name);
    Known known{Seen::waiting, status.st_ino, status.st_ctim};
    if (before != watched.files.end() && before->second.inode == status.st_ino) {
      known.seen = before->second.seen;
      const bool changed = !same_time(before->second.changed, known.changed);
      if (known.seen == Seen::refused && changed) known.seen = Seen::waiting;
    }
    if (known.seen == Seen::waiting) known.seen = look_at(watched, name, is_old(status), found);
    files.emplace(name, known);
  }
  watched.files = std::move(files);
}

SegmentFinder::Seen SegmentFinder::look_at(const Watched& watched, const std::string& name, bool old,
                                           std::vector<std::unique_ptr<Segment>>& found) {
  const bool dead = maker_is_dead(name);  // before opening: the segment of a dead process does not change
  OpenedSegment opened = open_segment(watched.directory, name, pid_namespace_);
  const std::string path = watched.path + "/" + name;
  if (opened.error == ENOENT) return Seen::waiting;  // deleted just now
  if (opened.error != 0) {
    log_.error_once(fmt::format("{}: {}; it is tried again", printable(path), reason(opened.error)));
    return Seen::waiting;
  }
  if (opened.segment) {
    found.push_back(std::move(opened.segment));
    return Seen::served;
  }
  if (opened.verdict.verdict == Verdict::not_ready) {
    if (dead && old) unlinkat(watched.directory->fd(), name.c_str(), 0);
    return Seen::waiting;
  }
  if (opened.verdict.verdict == Verdict::elsewhere)
    log_.note_once(
        fmt::format("{} also has segments of another pid namespace (another container): they are "
                    "left to a collector there",
                    printable(watched.path)));
  refuse(path, opened.verdict);
  return Seen::refused;
}

void SegmentFinder::refuse(const std::string& path, const SegmentVerdict& verdict) {
  if (verdict.verdict == Verdict::other_version) {
    log_.error(
        "{} is of another version of Lotus ({}): collect it with the lotus-collector of that version, or "
        "delete it",
        printable(path), verdict.why);
  } else if (verdict.verdict == Verdict::damaged) {
    log_.error("{} is no usable segment ({}) and is left alone: delete it", printable(path), verdict.why);
  }
}

bool SegmentFinder::any_waiting() const {
  return std::any_of(watched_.begin(), watched_.end(), [](const Watched& watched) {
    return std::any_of(watched.files.begin(), watched.files.end(),
                       [](const auto& file) { return file.second.seen == Seen::waiting; });
  });
}

void SegmentFinder::check_places() {
  for (Watched& watched : watched_) {
    if (!watched.directory) continue;
    if (!watched.directory->in_place()) {
      watched.directory.reset();  // its open segments stay open
      watched.lock.release();
    } else if (!watched.lock.in_place(*watched.directory)) {
      const ServeLock::Result taken = lock(watched, ServeLock::Try::for_50_ms);
      if (taken == ServeLock::Result::held)
        throw std::runtime_error(
            fmt::format("{}/{} was deleted and another collector serves now", watched.path, kCollectorLock));
      if (taken == ServeLock::Result::failed) {  // the directory is being deleted, too
        watched.directory.reset();
        watched.lock.release();
      }
    }
  }
  attach(Directory::Create::no, ServeLock::Try::once);
}

void SegmentFinder::publish(std::string_view text) const {
  for (const Watched& watched : watched_)
    if (watched.lock.held()) watched.lock.publish(text);
}

bool SegmentFinder::has_new_files(Watched& watched) const {
  std::vector<std::string> names;
  watched.directory->list_segments(names);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto known = watched.files.find(name);
    return known == watched.files.end() || known->second.seen == Seen::waiting;
  });
}

bool SegmentFinder::take_back() {
  bool taken = false;
  for (Watched& watched : watched_) {
    if (!watched.directory) continue;
    if (lock(watched, ServeLock::Try::for_50_ms) == ServeLock::Result::taken) {
      taken = true;
    } else {
      watched.directory.reset();  // whoever has the lock now reads those segments
    }
  }
  return taken;
}

bool SegmentFinder::let_go() {
  for (Watched& watched : watched_) watched.lock.release();
  const bool more = std::any_of(watched_.begin(), watched_.end(), [&](Watched& watched) {
    return watched.directory && has_new_files(watched);
  });
  return !more || !take_back();
}

void SegmentFinder::forget_notifications() const {
  char events[4096];
  while (inotify_ && read(inotify_.get(), events, sizeof events) > 0) continue;
}

}  // namespace lotus::collector
