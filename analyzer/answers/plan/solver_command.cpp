#include "answers/plan/solver_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/input.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kGrace = 10;               // seconds for a solver to end after its time limit
constexpr std::uintmax_t kMost = 1u << 30;  // bytes of a solution that are read

class Directory {
 public:
  Directory() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "lotus-solver-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      throw Unusable(fmt::format("{}: cannot be made: {}; set TMPDIR to a directory that can be written",
                                 escaped(name), error ? error.message() : std::strerror(errno)));
    path_ = name;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw Unusable(fmt::format("{}: cannot be written: is the disk full? Set TMPDIR to another directory",
                               escaped(path)));
}

// Keeps signals that end lotus-analyze waiting until the solver has ended and its directory is removed.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held_, signal);
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  const sigset_t& before() const { return before_; }

  // Waits for 10 ms; true: one of them came, and comes again when they are let through.
  bool came() const {
    const timespec wait{.tv_sec = 0, .tv_nsec = 10'000'000};
    const int signal = ::sigtimedwait(&held_, nullptr, &wait);
    if (signal > 0) ::raise(signal);
    return signal > 0;
  }

 private:
  sigset_t held_{}, before_{};
};

class Child {
 public:
  // Throws nothing: error() says why it does not run.
  Child(const std::string& program, const std::vector<std::string>& arguments, const std::string& output,
        const sigset_t& mask) {
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setsigmask(&attributes, &mask);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&files, 1, 2);
    error_ = ::posix_spawn(&pid_, program.c_str(), &files, &attributes, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (error_ == 0 && !ended_) end();
  }

  int error() const { return error_; }
  int status() const { return status_; }

  bool ended() {
    const pid_t found = ::waitpid(pid_, &status_, WNOHANG);
    ended_ = found == pid_ || (found < 0 && errno != EINTR);
    return ended_;
  }

  // With what it started, too.
  void end() {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) continue;
    ended_ = true;
  }

 private:
  pid_t pid_ = 0;
  int error_ = 0, status_ = 0;
  bool ended_ = false;
};

std::vector<std::string> arguments_for(SolverKind kind, const Directory& directory, const Effort& effort) {
  const std::string model = directory.file("model.mps"), solution = directory.file("solution");
  const std::string gap = fmt::format("{:.9f}", effort.gap),
                    time = fmt::format("{:.3f}", effort.time_limit_s);
  if (kind == SolverKind::cbc)
    return {model, "-ratio", gap, "-sec", time, "-timeMode", "elapsed", "-solve", "-solution", solution};
  write_file(directory.file("options"), fmt::format("mip_rel_gap = {}\ntime_limit = {}\n", gap, time));
  return {"--model_file", model, "--options_file", directory.file("options"), "--solution_file", solution};
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

struct Ending {
  bool by_itself = false;
  std::string words;  // how it ended, where that is not as a program that did its work
};

Ending run(const std::string& program, const std::vector<std::string>& arguments, const std::string& output,
           double seconds, const HeldSignals& signals) {
  Child child(program, arguments, output, signals.before());
  if (child.error() != 0) return {false, fmt::format("cannot be started: {}", std::strerror(child.error()))};
  const auto begun = Clock::now();
  while (!child.ended()) {
    const std::chrono::duration<double> taken = Clock::now() - begun;
    if (!signals.came() && taken.count() < seconds + kGrace) continue;
    child.end();
    return {false, fmt::format("did not end within {:.0f} s", seconds + kGrace)};
  }
  return {WIFEXITED(child.status()), child.status() == 0 ? "" : ending_of(child.status())};
}

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

SolverAnswer without(const std::string& trouble) { return {.trouble = trouble}; }

}  // namespace

std::optional<std::string> find_solver(SolverKind kind) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder.empty() ? "." : folder) / name_of(kind);
    std::error_code ignored;
    if (fs::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0)
      return program.string();
  }
  return std::nullopt;
}

// A first line with the status, then for each column that is not 0: number, name, value, reduced cost. A
// column that breaks a bound has ** before its number.
SolverAnswer parse_cbc(const std::string& text) {
  const std::string status = first_line(text);
  if (status.find("objective value") == std::string::npos) return without("wrote no solution");
  if (starts_with(status, "Infeasible") || starts_with(status, "Integer infeasible") ||
      status.find("no integer solution") != std::string::npos)
    return without("found no solution: " + escaped(status));
  SolverAnswer answer;
  answer.optimal = starts_with(status, "Optimal");
  answer.objective = std::strtod(status.c_str() + status.find("value") + 5, nullptr);
  std::stringstream lines(text.substr(std::min(text.size(), status.size() + 1)));
  for (std::string line; std::getline(lines, line);) {
    std::stringstream words(line);
    std::string number, name;
    double value = 0;
    words >> number;
    if (number == "**") words >> number;
    words >> name >> value;
    if (!words || !std::isfinite(value))
      return without(fmt::format("wrote a solution with a line that is none: {}", escaped(line)));
    answer.columns[name] = value;
  }
  return answer;
}

// Sections: "Model status" and its line; "# Primal solution values" with "Feasible"; "# Columns N" and N
// lines of name and value.
SolverAnswer parse_highs(const std::string& text) {
  SolverAnswer answer;
  std::stringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && !starts_with(line, "# Primal"))
    if (line == "Optimal") answer.optimal = true;
  if (!std::getline(lines, line) || line != "Feasible") return without("found no solution");
  if (std::getline(lines, line) && starts_with(line, "Objective "))
    answer.objective = std::strtod(line.c_str() + 10, nullptr);
  while (std::getline(lines, line) && !starts_with(line, "# Columns ")) continue;
  const std::size_t count = lines ? std::strtoull(line.c_str() + 10, nullptr, 10) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name;
    double value = 0;
    if (!(lines >> name >> value) || !std::isfinite(value))
      return without("wrote a solution that breaks off or has no number where one must be");
    if (value != 0) answer.columns[name] = value;
  }
  if (count == 0) return without("wrote a solution without columns");
  return answer;
}

SolverAnswer run_solver(SolverKind kind, const std::string& program, const std::string& model,
                        const Effort& effort) {
  const HeldSignals signals;  // outlives the directory: it is removed before a signal is let through
  const Directory directory;
  write_file(directory.file("model.mps"), model);
  const Ending ending = run(program, arguments_for(kind, directory, effort), directory.file("output"),
                            effort.time_limit_s, signals);
  if (!ending.by_itself) return without(ending.words);
  std::error_code error;
  const std::string solution = directory.file("solution");
  const auto size = fs::is_regular_file(solution, error) ? fs::file_size(solution, error) : 0;
  if (error || size == 0) return without(ending.words.empty() ? "wrote no solution" : ending.words);
  if (size > kMost) return without("wrote a solution that is too long");
  // HiGHS ends with code 1 where its time was up: the solution counts, which is checked anyway.
  const std::string text = read_text(solution, "a solution");
  return kind == SolverKind::cbc ? parse_cbc(text) : parse_highs(text);
}

}  // namespace lotus::analyzer::memory_plan
