#include "text/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "text/escape.hpp"
#include "trace/error.hpp"

namespace lotus::analyzer {

Output::Output() : name_("standard output"), file_(stdout), owned_(false) {}

Output::Output(const std::string& path) : name_(escaped(path)), file_(stdout), owned_(path != "-") {
  if (!owned_) {
    name_ = "standard output";
    return;
  }
  file_ = std::fopen(path.c_str(), "we");
  if (file_ == nullptr) fail(errno);
}

Output::~Output() {
  if (owned_ && file_ != nullptr) std::fclose(file_);
}

void Output::fail(int error) const {
  throw Unusable(fmt::format("{}: cannot be written: {}; choose another place", name_, std::strerror(error)));
}

void Output::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) < text.size()) fail(errno);
}

void Output::close() {
  if (std::fflush(file_) != 0) fail(errno);
  if (!owned_) return;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail(errno);
}

}  // namespace lotus::analyzer
