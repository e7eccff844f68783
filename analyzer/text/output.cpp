#include "text/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

// A new file that will replace `target`: in the same directory, so that renaming copies no bytes, and with
// permissions that are no wider than the target's.
int open_beside(const std::string& target, unsigned mode, std::string& name) {
  constexpr std::string_view kSuffix = ".part";
  name = (fs::path(target).parent_path() / "lotus-analyze-XXXXXX").string();
  name += kSuffix;
  struct stat status {};
  const bool present = ::stat(target.c_str(), &status) == 0;
  if (present && ::access(target.c_str(), W_OK) != 0) return -1;
  const int file = ::mkostemps(name.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC);
  if (file >= 0 && present) ::fchmod(file, mode & status.st_mode);
  return file;
}

// A file that is open already, as /dev/stdout or /proc/self/fd/3: it may have no name, and cannot be
// replaced.
bool is_descriptor(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 8 && !error; ++links) {
    if (path.string().starts_with("/proc/")) return true;
    if (!fs::is_symlink(fs::symlink_status(path, error))) return false;
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return false;
}

}  // namespace

Output::Output() : name_("standard output"), file_(stdout), owned_(false) {}

Output::Output(const std::string& path) : Output(path, true) {}

Output::Output(const std::string& path, bool replace) : Output(path, replace, 0666) {}

Output Output::of_owner(const std::string& path, bool replace) { return {path, replace, 0600}; }

Output Output::like(const std::string& original, const std::string& path, bool replace) {
  struct stat status {};
  const bool known = ::stat(original.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  return {path, replace, known ? status.st_mode & 0666 : 0600};
}

Output::Output(const std::string& path, bool replace, unsigned mode)
    : name_(escaped(path)), file_(stdout), owned_(path != "-") {
  if (!owned_) {
    name_ = "standard output";
    return;
  }
  std::error_code ignored;
  const bool device =
      fs::is_other(path, ignored) || is_descriptor(path);  // as /dev/null: has no content that could be lost
  if (fs::is_directory(path, ignored)) fail(EISDIR);
  const bool replaces = replace && !device && fs::exists(fs::symlink_status(path, ignored));
  target_ = written_ = device ? "" : path;
  int file = -1;
  if (replaces) {
    // A symbolic link stays: its target is replaced.
    if (fs::exists(path, ignored)) target_ = fs::canonical(path, ignored).string();
    file = open_beside(target_, mode, written_);
  } else {
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (device ? O_TRUNC : O_EXCL), mode);
  }
  file_ = file < 0 ? nullptr : ::fdopen(file, "w");
  if (file_ == nullptr && errno == EEXIST)
    throw WrongUsage(fmt::format("{}: exists; give --force to replace it, or another name", name_));
  if (file_ == nullptr) fail(errno);
}

Output::~Output() {
  if (!owned_ || file_ == nullptr) return;
  std::fclose(file_);
  if (!written_.empty()) ::unlink(written_.c_str());  // removes partial output
}

void Output::fail(int error) const {
  throw Unusable(fmt::format("{}: cannot be written: {}; choose another place", name_, std::strerror(error)));
}

void Output::write(std::string_view text) {
  if (text.empty()) return;  // its data() may be null, which fwrite() does not accept
  if (std::fwrite(text.data(), 1, text.size(), file_) < text.size()) fail(errno);
}

void Output::close() {
  if (std::fflush(file_) != 0) fail(errno);
  if (!owned_) return;
  const int closed = std::fclose(std::exchange(file_, nullptr));
  const int moved = closed != 0 || written_ == target_ ? closed : ::rename(written_.c_str(), target_.c_str());
  if (moved == 0) return;
  const int error = errno;
  if (!written_.empty()) ::unlink(written_.c_str());
  fail(error);
}

}  // namespace lotus::analyzer
