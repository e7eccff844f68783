// Runs the collector as a library in this process, or the program as a child process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace lotus::test {

struct Outcome {
  int code = 0;      // exit code; 128 + signal if it was killed
  std::string said;  // its diagnostics
};

// Drains the segments of `directory` in this process. `fallback`: directory for traces that cannot be written
// to their own path.
Outcome drain(const std::string& directory, const std::string& fallback = "/nonexistent");

// The program lotus-collector as a child process. Its diagnostics go to the file `log`.
class CollectorProgram {
 public:
  // `arguments`: without the program's name. `environment`: "NAME=value", added to this process's.
  CollectorProgram(const std::vector<std::string>& arguments, const std::string& log,
                   const std::vector<std::string>& environment = {});
  ~CollectorProgram();  // kills it if it still runs
  CollectorProgram(const CollectorProgram&) = delete;
  CollectorProgram& operator=(const CollectorProgram&) = delete;

  pid_t pid() const { return pid_; }
  std::string lock_line() const;  // what it writes into the lock's file first
  void signal(int number) const;
  bool running();
  Outcome wait();

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool reaped_ = false;
  std::string log_;
};

// Runs `body` in a forked child that then leaves by _exit(0) without any clean-up. Returns its pid.
template <class Body>
pid_t in_child(Body body);
int wait_for(pid_t child);  // returns the exit code, or 128 + signal

pid_t fork_or_throw();
[[noreturn]] void leave_child(int code);

template <class Body>
pid_t in_child(Body body) {
  const pid_t child = fork_or_throw();
  if (child != 0) return child;
  body();
  leave_child(0);
}

}  // namespace lotus::test
