// The output on a terminal, when the collector is started by hand.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "support/collector_run.hpp"
#include "support/segment_writer.hpp"
#include "support/temporary.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

// The collector on a pseudo-terminal of 60 columns.
class OnTerminal {
 public:
  explicit OnTerminal(const std::string& directory) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 60;
    pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    execl(LOTUS_COLLECTOR_PROGRAM, "lotus-collector", "--dir", directory.c_str(), nullptr);
    leave_child(127);
  }
  ~OnTerminal() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(terminal_);
  }

  bool shows(const std::string& part) {
    return eventually([&] {
      read_more();
      return shown_.find(part) != std::string::npos;
    });
  }
  void type(char key) const { CHECK(write(terminal_, &key, 1) == 1); }
  const std::string& shown() const { return shown_; }

 private:
  void read_more() {
    pollfd polled{terminal_, POLLIN, 0};
    char bytes[4096];
    while (poll(&polled, 1, 0) > 0) {
      const ssize_t size = read(terminal_, bytes, sizeof bytes);
      if (size <= 0) return;
      shown_.append(bytes, static_cast<std::size_t>(size));
    }
  }

  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string shown_;
};

}  // namespace

TEST_CASE("progress is one line that is rewritten, and removed before other lines") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  OnTerminal screen(segments.path());
  CHECK(screen.shows("\r\x1b[Kwaiting for traced programs"));
  SegmentPlan plan;
  plan.directory = segments.path();
  plan.output = outputs / "x\x1b[31m.lotus";
  SegmentWriter segment(plan);
  ThreadWriter thread(segment, 0, 1);
  for (std::uint64_t i = 1; i <= 2000; ++i) thread.record(i);
  thread.flush();
  CHECK(screen.shows("\r\x1b[K1 program, 1 process, "));
  CHECK(screen.shows(" events/s, "));
  for (std::size_t at = 0; (at = screen.shown().find("1 program", at)) != std::string::npos; ++at)
    CHECK(std::min(screen.shown().find('\r', at), screen.shown().size()) - at < 60);
  screen.type('\x03');  // Ctrl-C
  CHECK(screen.shows("\r\x1b[Klotus: "));
  CHECK(screen.shows("x\\x1b[31m.lotus: 2000 events from 1 process, 0 lost\r\n"));
  CHECK(screen.shown().find("\x1b[31m") == std::string::npos);
}
