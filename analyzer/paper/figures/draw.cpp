#include "paper/figures/draw.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr int kNoMatplotlib = 3;  // exit codes of draw.py and of posix_spawnp's child
constexpr int kNoProgram = 127;
// The first on the PATH; and the system's, which has the system's packages whatever environment is active.
constexpr const char* kPythons[] = {"python3", "/usr/bin/python3"};

fs::path script() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path path = program.parent_path().parent_path() / "share/lotus/figures/draw.py";
  if (error || !fs::exists(path, error))
    throw Unusable(fmt::format("{}: is missing; it is installed with lotus-analyze: install it again",
                               escaped(path.string())));
  return path;
}

int run(const char* python, std::vector<std::string> arguments) {
  std::vector<char*> words{const_cast<char*>(python)};
  for (auto& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, python, nullptr, nullptr, words.data(), environ);
  if (error == ENOENT || error == EACCES) return kNoProgram;
  if (error != 0) throw Unusable(fmt::format("{}: cannot be started: {}", python, std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

void draw_figure(const std::string& number, const std::string& title, const std::string& csv,
                 const std::vector<std::string>& pictures) {
  std::vector<std::string> arguments{script().string(), number, title, csv};
  arguments.insert(arguments.end(), pictures.begin(), pictures.end());
  int code = kNoProgram;
  for (const char* python : kPythons) {
    code = run(python, arguments);
    if (code != kNoProgram && code != kNoMatplotlib) break;
  }
  if (code == 0) return;
  if (code == kNoProgram || code == kNoMatplotlib)
    throw Unusable(fmt::format(
        "no picture was drawn: {}; install Matplotlib (apt-get install python3-matplotlib, or pip install "
        "matplotlib) and try again with --force. The data is in {}",
        code == kNoProgram ? "there is no python3" : "python3 has no Matplotlib", escaped(csv)));
  throw Unusable(fmt::format("no picture was drawn: {} ended with code {}; the data is in {}",
                             escaped(arguments.front()), code, escaped(csv)));
}

}  // namespace lotus::analyzer
