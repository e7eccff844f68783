// Detects whether a process is alive: reused pids, zombies, stopped processes, main threads that end first.
#include "process_watch.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "support/collector_run.hpp"
#include "support/segment_writer.hpp"
#include "support/temporary.hpp"

using namespace lotus::test;
using lotus::collector::Presence;
using lotus::collector::presence_of;
using lotus::collector::process_start_time;
using lotus::collector::ProcessWatch;

namespace {

std::uint32_t number(pid_t pid) { return static_cast<std::uint32_t>(pid); }

// Uses up all file descriptors of this process during its lifetime.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{64, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int fd = 0; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(fd);
  }
  ~NoDescriptorLeft() {
    for (const int fd : taken_) close(fd);
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  NoDescriptorLeft(const NoDescriptorLeft&) = delete;
  NoDescriptorLeft& operator=(const NoDescriptorLeft&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace

TEST_CASE("this process is alive, and nobody else under its pid") {
  const std::uint32_t pid = number(getpid());
  const std::uint64_t start_time = start_time_of(pid);
  CHECK(process_start_time(pid) == start_time);
  CHECK(ProcessWatch(pid, start_time).alive());
  CHECK_FALSE(ProcessWatch(pid, start_time + 1).alive());
}

TEST_CASE("a name with spaces and parentheses hides nothing") {
  const pid_t child = in_child([] {
    prctl(PR_SET_NAME, ") R 1 2 (3");
    pause();
  });
  sleep_ms(50);
  CHECK(process_start_time(number(child)) == start_time_of(number(child)));
  kill(child, SIGKILL);
  wait_for(child);
  CHECK_FALSE(process_start_time(number(child)));
}

TEST_CASE("a stopped process is alive, a zombie is dead") {
  const pid_t child = in_child([] { pause(); });
  ProcessWatch watch(number(child), start_time_of(number(child)));
  kill(child, SIGSTOP);
  waitpid(child, nullptr, WUNTRACED);
  CHECK(watch.alive());
  kill(child, SIGKILL);
  CHECK(eventually([&] { return !watch.alive(); }));  // a zombie: not waited for yet
  CHECK_FALSE(process_start_time(number(child)));
  CHECK_FALSE(ProcessWatch(number(child), start_time_of(number(child))).alive());
  wait_for(child);
  CHECK_FALSE(watch.alive());
}

TEST_CASE("a process whose main thread ended before another one is alive") {
  const pid_t child = in_child([] {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          pause();
          return nullptr;
        },
        nullptr);
    syscall(SYS_exit, 0);  // ends this thread only, and runs nothing
  });
  ProcessWatch watch(number(child), start_time_of(number(child)));
  const std::string status = "/proc/" + std::to_string(child) + "/status";
  REQUIRE(eventually([&] { return read_text(status).find("State:\tZ") != std::string::npos; }));
  CHECK(watch.alive());
  CHECK(process_start_time(number(child)));
  kill(child, SIGKILL);
  wait_for(child);
  CHECK_FALSE(watch.alive());
}

TEST_CASE("without a descriptor to look with, a process counts as alive until it is certainly gone") {
  const pid_t child = in_child([] { pause(); });
  const std::uint64_t start_time = start_time_of(number(child));
  const NoDescriptorLeft none;
  CHECK(presence_of(number(child), start_time) == Presence::unknown);
  ProcessWatch watch(number(child), start_time);
  CHECK(watch.alive());
  kill(child, SIGKILL);
  wait_for(child);
  CHECK_FALSE(watch.alive());
  CHECK(presence_of(number(child), start_time) == Presence::ended);
}
