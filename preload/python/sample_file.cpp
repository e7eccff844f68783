#include "python/sample_file.hpp"

#include <cstring>

#include "python/objects.hpp"
#include "python/python_thread.hpp"
#include "record/paths.hpp"
#include "record/this_thread.hpp"

namespace lotus {
namespace {

// Files that Python and the system open on their own account.
bool is_no_data(std::string_view path) {
  constexpr std::string_view kEnds[] = {".py", ".pyc", ".so"};
  constexpr std::string_view kStarts[] = {"/proc/", "/sys/", "/dev/"};
  for (const auto end : kEnds)
    if (path.ends_with(end)) return true;
  for (const auto start : kStarts)
    if (path.starts_with(start)) return true;
  return false;
}

}  // namespace

void note_path(py::Object* path) {
  if (python_thread.unbalanced || !python_thread.in_sample || python_thread.path_known || path == nullptr)
    return;
  std::string_view text = text_of(path);
  if (is_no_data(text)) return;
  if (!text.empty()) {
    record_path(text.data(), text.size());
  } else if (py::is_a(path, py::kUnicode)) {
    const Owned encoded(py::api.PyUnicode_EncodeFSDefault(path));  // a name that is not UTF-8
    py::api.PyErr_Clear();
    text = text_of(encoded.get());
    record_path(text.data(), text.size());
  }
  python_thread.path_known = !text.empty();
}

bool is_data_file(const char* path) {
  constexpr std::string_view kStarts[] = {"/etc/", "/usr/lib/", "/usr/share/zoneinfo/", "/usr/share/locale/"};
  const std::string_view text(path);
  if (text.empty() || is_no_data(text)) return false;
  for (const auto start : kStarts)
    if (text.starts_with(start)) return false;
  return true;
}

void note_opened(const char* path) {
  Thread* thread = this_thread.recorder;
  if (python_thread.unbalanced || !python_thread.in_sample || python_thread.path_known || thread == nullptr)
    return;
  const std::string_view text(path);
  const std::size_t bytes = text.size() < kMaxPath ? text.size() : kMaxPath;
  std::memcpy(thread->opened, path, bytes);
  thread->opened_bytes = static_cast<std::uint32_t>(bytes);
  python_thread.path_known = true;
}

}  // namespace lotus
