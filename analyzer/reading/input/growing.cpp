#include "reading/input/growing.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <fstream>
#include <lotus/trace.hpp>
#include <sstream>
#include <thread>

#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5s;
constexpr auto kSilence = 500ms;  // after this, a message says what is waited for
constexpr auto kPause = 20ms;

// In clock ticks after boot; empty: there is no such process.
std::string start_time(std::uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return {};
  std::istringstream words(line.substr(name_end + 1));
  std::string word;
  for (int i = 3; i <= 22; ++i) words >> word;
  return word;
}

bool program_runs(const std::string& path) {
  FileHeader header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  return start_time(header.session_pid) == std::to_string(header.session_start_time);
}

// Its program has taken the name, and its collector has not gone on with it.
bool is_only_taken(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         is_reserved(static_cast<std::uint64_t>(status.st_size), status.st_mtime, std::time(nullptr));
}

}  // namespace

bool is_being_written(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;  // reported when it is opened for reading
  const bool held = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return held;
}

void wait_until_closed(const std::string& path) {
  if (path == "-") return;  // a stream ends when all is here
  const auto begin = std::chrono::steady_clock::now();
  bool said = false;
  while ((is_being_written(path) || is_only_taken(path)) && !program_runs(path)) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > kPatience) return;
    if (!said && waited > kSilence) {
      fmt::print(stderr, "lotus-analyze: {}: waiting for its collector to close it\n", escaped(path));
      said = true;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace lotus::analyzer
