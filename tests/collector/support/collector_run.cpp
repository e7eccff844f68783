#include "support/collector_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lotus/events.hpp>
#include <lotus/segment.hpp>
#include <stdexcept>

#include "collector.hpp"
#include "support/temporary.hpp"

extern char** environ;

namespace lotus::test {
namespace {

constexpr int kLongestWait = 50'000;  // ms; less than the time limit of every test

int code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// The system call in which each thread of a process waits, for the error message.
std::string where_it_is(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  std::string text;
  for (const std::string& task : list(tasks)) {
    const auto said = [&](const char* name) {
      return read_text(std::string(tasks).append(task).append(name));
    };
    text.append(" [").append(task).append(" in ").append(said("/wchan"));
    text.append(", system call ").append(said("/syscall")).append("]");
  }
  return text;
}

// Waits for a child's end and returns its wait status. After kLongestWait kills the child and throws.
int reap(pid_t child) {
  pollfd ended{static_cast<int>(syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
  // If no descriptor is left, as in some tests, the wait has no limit.
  const bool late = ended.fd >= 0 && poll(&ended, 1, kLongestWait) == 0;
  if (ended.fd >= 0) close(ended.fd);
  const std::string where = late ? where_it_is(child) : "";
  if (late) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (late) throw std::runtime_error("process " + std::to_string(child) + " does not end:" + where);
  return status;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Outcome drain(const std::string& directory, const std::string& fallback) {
  const TemporaryDirectory place;
  const std::string file = place / "log";
  Outcome outcome;
  {
    collector::Options options;
    options.mode = collector::Mode::drain;
    options.directories = {directory};
    options.fallback_directory = fallback;
    collector::Log log(file, collector::Log::Where::nowhere, false);
    collector::StopSignal stop;
    outcome.code = collector::Collector(options, log, stop).run();
  }
  outcome.said = read_text(file);
  return outcome;
}

CollectorProgram::CollectorProgram(const std::vector<std::string>& arguments, const std::string& log,
                                   const std::vector<std::string>& environment)
    : log_(log) {
  std::vector<std::string> argument_texts{LOTUS_COLLECTOR_PROGRAM};
  argument_texts.insert(argument_texts.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment_texts(environment);
  for (char** entry = environ; *entry != nullptr; ++entry) environment_texts.emplace_back(*entry);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const int error = posix_spawn(&pid_, LOTUS_COLLECTOR_PROGRAM, &actions, nullptr,
                                pointers(argument_texts).data(), pointers(environment_texts).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " LOTUS_COLLECTOR_PROGRAM);
}

CollectorProgram::~CollectorProgram() {
  if (reaped_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void CollectorProgram::signal(int number) const {
#if defined(LOTUS_SANITIZED)
  // GCC 12's thread sanitizer keeps delayed signals in a record that it makes at the first blocking call. A
  // signal that arrives meanwhile makes a second record, which gets lost with its signal. So wait until the
  // collector blocks.
  const std::string waits = std::to_string(SYS_ppoll) + " ";
  eventually([&] { return read_text("/proc/" + std::to_string(pid_) + "/syscall").starts_with(waits); });
#endif
  kill(pid_, number);
}

bool CollectorProgram::running() {
  if (!reaped_ && waitpid(pid_, &status_, WNOHANG) == pid_) reaped_ = true;
  return !reaped_;
}

Outcome CollectorProgram::wait() {
  if (!reaped_) {
    reaped_ = true;
    status_ = reap(pid_);
  }
  return {code_of(status_), read_text(log_)};
}

std::string CollectorProgram::lock_line() const {
  return fmt::format("{} {} {:016x}\n", pid_, kSegmentVersion, kSchemaHash);
}

pid_t fork_or_throw() {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  return child;
}

void leave_child(int code) { _exit(code); }

int wait_for(pid_t child) { return code_of(reap(child)); }

}  // namespace lotus::test
