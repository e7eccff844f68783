#include "paper/lotustrace/log_writer.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer::lotustrace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBuffered = 1 << 16;  // bytes of one file

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Unusable(fmt::format("{}: cannot be written: {}; choose another place", escaped(path), why));
}

}  // namespace

LogWriter::LogWriter(std::string directory) : directory_(std::move(directory)) {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) fail(directory_, error.message());
  const bool empty = fs::is_empty(directory_, error);
  if (error) fail(directory_, error.message());
  if (!empty)
    throw Unusable(fmt::format(
        "{}: is not empty, and logs of two runs in one directory cannot be told apart; name a new directory",
        escaped(directory_)));
}

void LogWriter::write(const std::string& name, std::string_view text) {
  std::string& buffer = buffers_[name];
  buffer += text;
  if (buffer.size() >= kBuffered) flush(name, buffer);
}

void LogWriter::flush(const std::string& name, std::string& buffer) {
  if (buffer.empty()) return;
  const fs::path path = fs::path(directory_) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) fail(path.parent_path().string(), error.message());
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) fail(path.string(), std::strerror(errno));
  const bool whole = std::fwrite(buffer.data(), 1, buffer.size(), file) == buffer.size();
  const int problem = errno;
  if (std::fclose(file) != 0 || !whole) fail(path.string(), std::strerror(whole ? errno : problem));
  buffer.clear();
}

void LogWriter::close() {
  for (auto& [name, buffer] : buffers_) flush(name, buffer);
}

}  // namespace lotus::analyzer::lotustrace
