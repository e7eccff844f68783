#include "paper/lotustrace/log_name.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <tuple>
#include <utility>

namespace lotus::analyzer::lotustrace {
namespace {

// A regular expression (POSIX, extended) that a whole name must match. libc's: <regex> takes 8 s to compile.
class Pattern {
 public:
  // Which parts of the name the groups matched, by number; an empty one where a group has no part in the
  // match.
  using Groups = std::array<std::string_view, 6>;

  explicit Pattern(const char* expression) {
    if (regcomp(&compiled_, fmt::format("^({})$", expression).c_str(), REG_EXTENDED) != 0) std::abort();
  }
  ~Pattern() { regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Views into `name`.
  std::optional<Groups> match(std::string_view name) const {
    std::array<regmatch_t, std::tuple_size_v<Groups> + 1> found;
    found[0] = {0, static_cast<regoff_t>(name.size())};
    if (regexec(&compiled_, name.data(), found.size(), found.data(), REG_STARTEND) != 0) return std::nullopt;
    Groups groups;
    for (std::size_t at = 0; at < groups.size(); ++at) {
      const auto [begin, end] = std::pair(found[at + 1].rm_so, found[at + 1].rm_eo);
      if (begin >= 0)
        groups[at] = name.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    }
    return groups;
  }

 private:
  regex_t compiled_;
};

template <class Number>
Number number_of(std::string_view digits) {
  Number value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

std::string LogName::text() const {
  return fmt::format("{}_{}_pid_{}", prefix, main ? "main" : "worker", pid);
}

std::optional<LogName> parse_log_name(std::string_view name) {
  static const Pattern kPattern("(.*)_(worker|main)_pid_([1-9][0-9]{0,8})");
  const auto groups = kPattern.match(name);
  if (!groups) return std::nullopt;
  return LogName{std::string((*groups)[1]), number_of<std::uint32_t>((*groups)[3]), (*groups)[2] == "main"};
}

Configuration parse_configuration(const std::string& directory) {
  static const Pattern kWord("(b|gpus?|w|workers?|dataloader)([0-9]{1,9})");
  static const Pattern kBegun("(.*_)?b[0-9]*_gpu[^_]*(_.*)?|.*_dataloader[^_]*");
  const std::filesystem::path path(directory);
  Configuration found;
  found.name = (path.has_filename() ? path : path.parent_path()).filename().string();
  const std::string_view name = found.name;
  for (std::size_t at = 0, end = 0; at <= name.size(); at = end + 1) {
    end = std::min(name.find('_', at), name.size());
    const auto groups = kWord.match(name.substr(at, end - at));
    if (!groups) continue;
    const std::string_view what = (*groups)[1];
    auto& value = what == "b" ? found.batch_size : what.starts_with('g') ? found.ranks : found.workers;
    value = number_of<std::uint64_t>((*groups)[2]);
  }
  const bool whole = (found.batch_size > 0 && found.ranks > 0) || found.workers > 0;
  found.damaged = !whole && kBegun.match(name);
  return found;
}

std::string part_text(const Part& part, bool with_pid, bool with_loader) {
  std::string text;
  if (with_pid) text += fmt::format("pid_{}_", part.pid);
  if (with_loader) text += fmt::format("loader_{}_", part.loader);
  return text + fmt::format("epoch_{}", part.epoch);
}

std::optional<Part> parse_part(std::string_view name) {
  static const Pattern kPattern("(pid_([0-9]{1,9})_)?(loader_([0-9]{1,9})_)?epoch_([0-9]{1,9})");
  const auto groups = kPattern.match(name);
  if (!groups) return std::nullopt;
  return Part{number_of<std::uint64_t>((*groups)[2]), number_of<std::uint64_t>((*groups)[4]),
              number_of<std::uint64_t>((*groups)[5])};
}

}  // namespace lotus::analyzer::lotustrace
