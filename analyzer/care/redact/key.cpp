#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "care/redact/hasher.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOwnBytes = 32;
constexpr std::size_t kMostBytes = 4096;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw Unusable(fmt::format("{}: {}; name a key of yours with --key FILE", escaped(file), why));
}

std::string own_file() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config != nullptr && config[0] == '/') return std::string(config) + "/lotus/redact.key";
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.config/lotus/redact.key";
  throw Unusable("neither HOME nor XDG_CONFIG_HOME says where your key is; name one with --key FILE");
}

void make_own(const std::string& file) {
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  char key[kOwnBytes];
  if (getrandom(key, sizeof key, 0) != static_cast<ssize_t>(sizeof key))
    refuse(file, "no random bytes to be had");
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    if (errno == EEXIST) return;  // another process created it at the same time
    refuse(file, fmt::format("cannot be made: {}", std::strerror(errno)));
  }
  const bool written = ::write(descriptor, key, sizeof key) == static_cast<ssize_t>(sizeof key);
  ::close(descriptor);
  if (written) return;
  ::unlink(file.c_str());
  refuse(file, "cannot be written");
}

std::string read_bytes(const std::string& file, bool own) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse(file, std::strerror(errno));
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  std::string key(kMostBytes + 1, '\0');
  const ssize_t got = known && S_ISREG(status.st_mode) ? ::read(descriptor, key.data(), key.size()) : -1;
  ::close(descriptor);
  if (got <= 0) refuse(file, "holds no key");
  if (static_cast<std::size_t>(got) > kMostBytes) refuse(file, "is too long for a key");
  if (own && (status.st_uid != geteuid() || (status.st_mode & 077) != 0))
    refuse(file, "others can read it, so it hides nothing");
  key.resize(static_cast<std::size_t>(got));
  return key;
}

}  // namespace

std::string read_key(const std::string& file) {
  if (!file.empty()) return read_bytes(file, false);
  const std::string own = own_file();
  if (::access(own.c_str(), F_OK) != 0) make_own(own);
  return read_bytes(own, true);
}

}  // namespace lotus::analyzer
