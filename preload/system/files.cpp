#include "system/files.hpp"

namespace lotus {

std::size_t read_file(const char* path, char* buffer, std::size_t size) {
  buffer[0] = '\0';
  const RawFile file(path);
  std::size_t used = 0;
  while (used + 1 < size) {
    const std::size_t got = file.read(buffer + used, size - 1 - used);
    if (got == 0) break;
    used += got;
  }
  buffer[used] = '\0';
  return used;
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path;
}

}  // namespace lotus
