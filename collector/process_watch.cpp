#include "process_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#include <cerrno>
#include <charconv>
#include <string_view>

namespace lotus::collector {
namespace {

constexpr int kStateField = 3;  // counted from 1, as in proc(5)
constexpr int kThreadsField = 20;
constexpr int kStartTimeField = 22;

// Fields behind the command name, which may itself hold spaces and parentheses.
struct Stat {
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start_time = 0;
};

std::uint64_t to_number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<Stat> parse_stat(std::string_view text) {
  const auto close = text.rfind(") ");
  if (close == std::string_view::npos) return std::nullopt;
  text.remove_prefix(close + 2);
  Stat stat;
  for (int field = kStateField; field <= kStartTimeField && !text.empty(); ++field) {
    const auto word = text.substr(0, text.find(' '));
    if (field == kStateField) stat.state = word.front();
    if (field == kThreadsField) stat.threads = to_number(word);
    if (field == kStartTimeField) stat.start_time = to_number(word);
    text.remove_prefix(word.size() < text.size() ? word.size() + 1 : word.size());
  }
  return stat;
}

// The state of a process as far as it can be determined now. A lack of descriptors or memory proves nothing
// about the process.
struct Seen {
  std::optional<Stat> stat;
  bool gone = false;  // there is certainly no such process
};

Seen look_at(std::uint32_t pid) {
  const Fd file(open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT || errno == ESRCH) return {std::nullopt, true};
    // Needs no descriptor.
    return {std::nullopt, kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH};
  }
  char text[1024];
  const ssize_t size = read(file.get(), text, sizeof text);
  if (size < 0) return {std::nullopt, errno == ESRCH};
  return {parse_stat({text, static_cast<std::size_t>(size)}), false};
}

// A main thread that ended before the others is a zombie while the process lives on.
bool is_over(const Stat& stat) { return stat.state == 'X' || (stat.state == 'Z' && stat.threads <= 1); }

}  // namespace

std::optional<std::uint64_t> process_start_time(std::uint32_t pid) {
  const auto stat = look_at(pid).stat;
  if (!stat || is_over(*stat)) return std::nullopt;
  return stat->start_time;
}

Presence presence_of(std::uint32_t pid, std::uint64_t start_time) {
  const Seen seen = look_at(pid);
  if (seen.gone) return Presence::ended;
  if (!seen.stat) return Presence::unknown;
  return is_over(*seen.stat) || seen.stat->start_time != start_time ? Presence::ended : Presence::there;
}

ProcessWatch::ProcessWatch(std::uint32_t pid, std::uint64_t start_time) : pid_(pid), start_time_(start_time) {
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  // The start time is read after the descriptor was opened: if it is right now, so is the descriptor.
  const Presence presence = presence_of(pid, start_time);
  ended_ = presence == Presence::ended;
  if (presence != Presence::there) pidfd_.reset();
}

bool ProcessWatch::alive() {
  if (ended_) return false;
  if (pidfd_) {
    pollfd watched{pidfd_.get(), POLLIN, 0};
    ended_ = poll(&watched, 1, 0) > 0;
  } else {
    ended_ = presence_of(pid_, start_time_) == Presence::ended;
  }
  if (ended_) pidfd_.reset();
  return !ended_;
}

bool ProcessWatch::stopped() const {
  const auto stat = look_at(pid_).stat;
  return stat && stat->start_time == start_time_ && stat->state == 'T';
}

}  // namespace lotus::collector
