#include "reading/input/chosen_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <lotus/trace.hpp>

#include "reading/input/growing.hpp"
#include "text/error.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

// A copy of another trace, made by `redact` or `recover`.
bool is_copy(const fs::path& path) {
  const fs::path kind = path.stem().extension();
  return kind == ".recovered" || kind == ".redacted";
}

// Also x.lotus.1, which a collector writes if x.lotus belongs to something else.
bool is_trace(const fs::path& path) {
  const std::string kind = path.extension().string();
  const bool number = kind.size() > 1 && kind.find_first_not_of("0123456789", 1) == std::string::npos;
  return kind == kTraceSuffix || (number && path.stem().extension() == kTraceSuffix);
}

// Copies are chosen only if there are no other traces.
std::string newest_here() {
  std::string newest;
  fs::file_time_type latest{};
  bool copy = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(".", error)) {
    std::error_code ignored;
    if (!is_trace(entry.path()) || !entry.is_regular_file(ignored)) continue;
    const auto written = entry.last_write_time(ignored);
    const bool better = is_copy(entry.path()) == copy ? written > latest : copy;
    if (!newest.empty() && !better) continue;
    newest = entry.path().filename().string();
    copy = is_copy(entry.path());
    latest = written;
  }
  return newest;
}

// A trace that is named twice, also by another path, counts once. What cannot be opened is reported later.
std::vector<std::string> each_once(const std::vector<std::string>& named) {
  std::vector<std::string> once;
  for (const std::string& path : named) {
    const bool known = std::any_of(once.begin(), once.end(), [&](const std::string& other) {
      std::error_code error;
      return other == path || fs::equivalent(other, path, error);
    });
    if (!known) once.push_back(path);
  }
  return once;
}

}  // namespace

bool is_original_trace(const fs::path& path) { return is_trace(path) && !is_copy(path); }

std::vector<std::string> chosen_traces(const std::vector<std::string>& named) {
  std::vector<std::string> once = each_once(named);
  for (const std::string& path : once) wait_until_closed(path);
  if (!once.empty()) return once;
  const std::string newest = newest_here();
  if (newest.empty())
    throw Unusable(
        fmt::format("no *{} in the working directory; name a trace, or make one with "
                    "LD_PRELOAD=…/liblotus.so python train.py",
                    kTraceSuffix));
  wait_until_closed(newest);
  return {newest};
}

}  // namespace lotus::analyzer
