#include "text/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "text/escape.hpp"
#include "text/terminal.hpp"
#include "text/utf8.hpp"

namespace lotus::analyzer {

using namespace std::chrono_literals;

Progress::Progress(std::string_view name, std::uint64_t total)
    : name_(escaped(name)),
      total_(total),
      terminal_(::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + 500ms) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::update(std::uint64_t done) {
  if (!terminal_ || total_ == 0 || Clock::now() < next_) return;
  next_ = Clock::now() + 200ms;
  shown_ = true;
  const std::string line = fmt::format("reading {}: {} %", name_, done * 100 / total_);
  std::fputs(("\r" + shortened(line, Terminal::of(stderr).width - 1) + "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace lotus::analyzer
