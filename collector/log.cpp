#include "log.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";
constexpr std::size_t kRememberedLines = 1000;

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // there is no other place to report this to
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::size_t terminal_columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

Log::Log(const std::string& file, Where where, bool quiet) : quiet_(quiet) {
  if (where == Where::standard_error) target_ = STDERR_FILENO;
  progress_allowed_ = target_ >= 0 && file.empty() && !quiet && isatty(STDERR_FILENO) != 0;
  if (file.empty()) return;
  // The path may be a pipe that nobody reads: opening and writing must not block the collection.
  file_.reset(open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
  if (file_) {
    target_ = file_.get();
  } else {
    error("LOTUS_LOG={}: {}; diagnostics go to standard error", printable(file),
          errno == ENXIO ? "a pipe that nobody reads" : reason(errno));
  }
}

bool Log::is_new(const std::string& text) {
  if (said_.size() >= kRememberedLines) said_.clear();
  return said_.insert(text).second;
}

void Log::error_once(const std::string& text) {
  if (is_new(text)) error("{}", text);
}

void Log::note_once(const std::string& text) {
  if (is_new(text)) note("{}", text);
}

void Log::result(std::string_view text) {
  if (!quiet_) line(std::string("lotus: ").append(text));
}

void Log::progress(std::string_view text) {
  if (!progress_allowed_ || (text.empty() && !progress_shown_)) return;
  write_all(target_, std::string(kClearLine).append(text.substr(0, terminal_columns() - 1)));
  progress_shown_ = !text.empty();
}

void Log::line(std::string text) {
  if (target_ < 0) return;
  progress("");
  text += '\n';
  write_all(target_, text);
}

}  // namespace lotus::collector
