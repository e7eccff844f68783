#include "text/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "text/escape.hpp"
#include "trace/error.hpp"

namespace lotus::analyzer {

Output::Output() : name_("standard output"), file_(stdout), owned_(false) {}

Output::Output(const std::string& path) : Output(path, true) {}

Output::Output(const std::string& path, bool replace) : Output(path, replace, 0666) {}

Output Output::of_owner(const std::string& path, bool replace) { return {path, replace, 0600}; }

Output::Output(const std::string& path, bool replace, unsigned mode)
    : name_(escaped(path)), file_(stdout), owned_(path != "-") {
  if (!owned_) {
    name_ = "standard output";
    return;
  }
  std::error_code ignored;
  const bool device = std::filesystem::is_other(path, ignored);  // as /dev/null: nothing is lost there
  const int exclusively = replace || device ? O_TRUNC : O_EXCL;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | exclusively, mode);
  file_ = file < 0 ? nullptr : ::fdopen(file, "w");
  if (file_ == nullptr && errno == EEXIST)
    throw WrongUsage(fmt::format("{}: exists; give --force to replace it, or another name", name_));
  if (file_ == nullptr) fail(errno);
}

Output::~Output() {
  if (owned_ && file_ != nullptr) std::fclose(file_);
}

void Output::fail(int error) const {
  throw Unusable(fmt::format("{}: cannot be written: {}; choose another place", name_, std::strerror(error)));
}

void Output::write(std::string_view text) {
  if (text.empty()) return;  // its data may be no pointer that fwrite() takes
  if (std::fwrite(text.data(), 1, text.size(), file_) < text.size()) fail(errno);
}

void Output::close() {
  if (std::fflush(file_) != 0) fail(errno);
  if (!owned_) return;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail(errno);
}

}  // namespace lotus::analyzer
