#include "reading/input/chosen_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <lotus/trace.hpp>
#include <string_view>
#include <tuple>

#include "reading/input/growing.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

// A copy of another trace, made by `redact` or `recover`.
bool is_copy(const fs::path& path) {
  const fs::path kind = path.stem().extension();
  return kind == ".recovered" || kind == ".redacted";
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Also x.lotus.1, which a collector writes if x.lotus belongs to something else.
bool is_trace(const fs::path& path) {
  const std::string kind = path.extension().string();
  const bool number = !kind.empty() && is_number(std::string_view(kind).substr(1));
  return kind == kTraceSuffix || (number && path.stem().extension() == kTraceSuffix);
}

// When its program began, ns since 1970: of two runs, the first one's collector may be the last to write. 0:
// it is no trace.
std::uint64_t begin_of(const fs::path& path) {
  FileHeader header{};
  std::ifstream file(path, std::ios::binary);
  const bool whole = static_cast<bool>(file.read(reinterpret_cast<char*>(&header), sizeof header));
  const bool trace = whole && std::memcmp(header.magic, kTraceMagic, sizeof kTraceMagic) == 0;
  return trace ? header.created.realtime_ns : 0;
}

// Copies are chosen only if there are no other traces; what cannot be read, only if there is nothing else.
std::string newest_here() {
  std::string newest;
  std::tuple<bool, std::uint64_t, fs::file_time_type> best;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(".", error)) {
    std::error_code ignored;
    if (!is_trace(entry.path()) || !entry.is_regular_file(ignored)) continue;
    const std::tuple one(!is_copy(entry.path()), begin_of(entry.path()), entry.last_write_time(ignored));
    if (!newest.empty() && one <= best) continue;
    newest = entry.path().filename().string();
    best = one;
  }
  return newest;
}

// x.lotus, or x.lotus.1 and so on, which programs write that find x.lotus taken: the newest of these.
std::string newest_of(const std::string& named) {
  const fs::path path(named);
  std::string newest = named;
  std::uint64_t latest = begin_of(path);
  const std::string start = path.filename().string() + ".";
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return named;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start) || !is_number(std::string_view(name).substr(start.size()))) continue;
    const std::uint64_t begun = begin_of(entry.path());
    if (begun <= latest) continue;
    latest = begun;
    newest = path.has_parent_path() ? entry.path().string() : name;
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
  if (once.size() == 1 && once.front() != "-") {
    const std::string newest = newest_of(once.front());
    if (newest != once.front())
      fmt::print(stderr, "lotus-analyze: {} is newer than {}, and read\n", escaped(newest),
                 escaped(once.front()));
    once.front() = newest;
  }
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
