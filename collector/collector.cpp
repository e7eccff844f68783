#include "collector.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <vector>

#include "clock.hpp"
#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr std::uint64_t kNothingPause = kSecond;  // no traced program at all
constexpr std::uint64_t kCheckInterval = kSecond;
constexpr std::uint64_t kLinger = 500 * kMillisecond;
// How long an autostarted collector waits for disk space; after it, the data stay in the segments.
constexpr std::uint64_t kPatience = 30 * kSecond;
constexpr std::size_t kClosedShown = 8;
constexpr std::uint64_t kStandstill = 2 * kSecond;  // later than that is not for want of a core

}  // namespace

Collector::Collector(Options options, Log& log, StopSignal& stop)
    : options_(std::move(options)), log_(log), stop_(stop), finder_(options_.directories, log) {}

ExitCode Collector::run() {
  ExitCode code = kDone;
  if (!begin(code)) return code;
  busy_at_ns_ = monotonic_ns();
  if (options_.mode != Mode::drain) serve_until_told();
  return finish();
}

bool Collector::begin(ExitCode& code) {
  if (!process_start_time(static_cast<std::uint32_t>(getpid()))) {
    log_.error("/proc is not mounted: without it nobody can tell which traced processes still run");
    code = kFailed;
    return false;
  }
  const bool create = options_.mode == Mode::serve;
  const auto attached =
      finder_.attach(create ? Directory::Create::yes : Directory::Create::no, ServeLock::Try::for_50_ms);
  if (attached == SegmentFinder::Attached::serving) return true;
  if (attached == SegmentFinder::Attached::nowhere && options_.mode == Mode::drain) {
    log_.note("no segments in {}", printable(fmt::format("{}", fmt::join(options_.directories, ", "))));
  } else if (attached == SegmentFinder::Attached::nowhere) {
    log_.error("no directory for segments can be used; set LOTUS_DIR to a directory of yours with mode 0700");
    code = kFailed;
  }
  return false;
}

void Collector::serve_until_told() {
  while (!stop_.asked()) {
    const std::uint64_t now = monotonic_ns();
    if (now >= next_check_ns_) {
      finder_.check_places();
      publish_status(now);
      next_check_ns_ = now + kCheckInterval;
      directory_changed_ = true;
    }
    if (directory_changed_ || finder_.any_waiting()) find_segments(now);
    visit_sessions(now);
    close_sessions(now);
    if (options_.mode == Mode::autostart && done_by_itself(now)) return;
    show_progress(now);
    wait();
  }
}

void Collector::find_segments(std::uint64_t now_ns) {
  directory_changed_ = false;
  for (auto& segment : finder_.scan()) serve(std::move(segment), now_ns);
}

void Collector::serve(std::unique_ptr<Segment> segment, std::uint64_t now_ns) {
  const SegmentHeader& header = segment->header();
  // A new file under a name that is served already: the process called exec and made a new segment.
  for (const auto& [id, session] : sessions_)
    for (const auto& process : session->processes()) {
      const SegmentFile& file = process->segment().file();
      if (file.name == segment->file().name && file.directory == segment->file().directory)
        process->declare_replaced();
    }
  auto& session = sessions_[session_of(header)];
  if (!session) session = std::make_unique<Session>(header, options_.fallback_directory, packer_, log_);
  if (!session->fits(header)) {
    log_.error("{} keeps time otherwise than its session and is left alone: delete it",
               printable(segment->file().path()));
    return;
  }
  ProcessWatch watch(header.pid, header.start_time);
  session->add(std::make_unique<TracedProcess>(std::move(segment), std::move(watch)), now_ns);
  pace_.expect_definitions();
  pause_ns_ = 0;
}

void Collector::visit_sessions(std::uint64_t now_ns) {
  Filling filling;
  for (auto& [id, session] : sessions_) filling.take_most(session->visit(now_ns));
  pause_ns_ = pace_.pause_after(filling, now_ns - visited_at_ns_);
  visited_at_ns_ = now_ns;
  if (!sessions_.empty() || finder_.any_waiting()) busy_at_ns_ = now_ns;
  for (auto& [id, session] : sessions_)
    if (session->name_meanwhile(now_ns, pace_.calm())) return;
}

void Collector::close_sessions(std::uint64_t now_ns) {
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    Session& session = *it->second;
    bool gone = session.over(now_ns) && session.close(now_ns);
    if (gone) {
      ++closed_count_;
      closed_.push_back({session.events(), session.lost_events(), session.path()});
      if (closed_.size() > kClosedShown) closed_.pop_front();
    }
    const std::uint64_t stuck_since = session.stuck_since();
    if (!gone && options_.mode == Mode::autostart && stuck_since != 0 && now_ns - stuck_since > kPatience) {
      give_up(session);
      gone = true;
    }
    it = gone ? sessions_.erase(it) : std::next(it);
  }
}

void Collector::give_up(const Session& session) {
  failed_ = true;
  if (session.processes().empty()) {
    log_.error("{}: the index could not be written; the events are in the file", printable(session.path()));
  } else {
    log_.error(
        "{}: could not be written; the events of {} stay in shared memory: make room, then run "
        "lotus-collector --drain",
        printable(session.path()), counted(session.processes().size(), "process", "processes"));
  }
}

bool Collector::done_by_itself(std::uint64_t now_ns) {
  if (now_ns - busy_at_ns_ < kLinger) return false;
  if (finder_.let_go()) return true;
  directory_changed_ = true;
  busy_at_ns_ = now_ns;
  return false;
}

ExitCode Collector::finish() {
  const std::uint64_t now = monotonic_ns();
  find_segments(now);
  for (auto& [id, session] : sessions_) {
    session->visit(now, true);
    const bool unwritten = session->stuck_since() != 0;
    if (unwritten || !session->close(now)) give_up(*session);
  }
  sessions_.clear();
  log_.progress("");
  return failed_ ? kFailed : kDone;
}

// Sleeps until the next visit is due, a process ends, a directory changes, or the collector is told to stop.
void Collector::wait() {
  std::vector<pollfd> polled{{stop_.fd(), POLLIN, 0}, {finder_.notify_fd(), POLLIN, 0}};
  for (const auto& [id, session] : sessions_)
    for (const auto& process : session->processes())
      if (const int fd = process->watch().fd(); fd >= 0) polled.push_back({fd, POLLIN, 0});
  const bool nothing = sessions_.empty() && !finder_.any_waiting();
  std::uint64_t pause = pause_ns_;
  const bool told = finder_.notify_fd() >= 0;
  if (nothing) pause = options_.mode == Mode::autostart || !told ? kLongestPause : kNothingPause;
  if (log_.shows_progress()) pause = std::min(pause, 500 * kMillisecond);
  const timespec timeout{static_cast<time_t>(pause / kSecond), static_cast<long>(pause % kSecond)};
  const std::uint64_t before = monotonic_ns();
  ppoll(polled.data(), polled.size(), &timeout, nullptr);
  // A suspended job, container or machine: its collector is, too.
  if (monotonic_ns() - before > pause + kStandstill)
    for (const auto& [id, session] : sessions_) session->note_standstill();
  if ((polled[1].revents & POLLIN) != 0) finder_.forget_notifications();
  directory_changed_ = directory_changed_ || !told || (polled[1].revents & POLLIN) != 0;
}

// Each second while something is traced, and once when nothing is any more.
void Collector::publish_status(std::uint64_t now_ns) {
  if (sessions_.empty() && published_idle_) return;
  published_idle_ = sessions_.empty();
  Status status;
  status.now_ns = now_ns;
  status.ended = closed_count_;
  status.closed = closed_;
  for (const auto& [id, session] : sessions_) status.sessions.push_back(session->status(now_ns));
  finder_.publish(to_lines(status));
}

void Collector::show_progress(std::uint64_t now_ns) {
  if (!log_.shows_progress() || !progress_.due(now_ns)) return;
  Activity activity;
  activity.sessions = sessions_.size();
  for (const auto& [id, session] : sessions_) {
    activity.processes += session->processes().size();
    activity.events += session->events();
    activity.bytes += session->bytes();
    activity.lost += session->lost_events();
  }
  log_.progress(progress_.line(activity, now_ns));
}

}  // namespace lotus::collector
