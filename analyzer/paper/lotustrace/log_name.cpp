#include "paper/lotustrace/log_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <regex>

namespace lotus::analyzer::lotustrace {
namespace {

using Match = std::match_results<std::string_view::const_iterator>;

template <class Number>
Number number_of(const Match& match, std::size_t group) {
  Number value = 0;
  const std::string text = match[group].str();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool matches(std::string_view text, Match& match, const std::regex& pattern) {
  return std::regex_match(text.begin(), text.end(), match, pattern);
}

}  // namespace

std::string LogName::text() const {
  return fmt::format("{}_{}_pid_{}", prefix, main ? "main" : "worker", pid);
}

std::optional<LogName> parse_log_name(std::string_view name) {
  static const std::regex kPattern("(.*)_(worker|main)_pid_([1-9][0-9]{0,8})");
  Match match;
  if (!matches(name, match, kPattern)) return std::nullopt;
  return LogName{match[1].str(), number_of<std::uint32_t>(match, 3), match[2] == "main"};
}

Configuration parse_configuration(const std::string& directory) {
  static const std::regex kWord("(b|gpus?|w|workers?|dataloader)([0-9]{1,9})");
  static const std::regex kBegun("(?:.*_)?b[0-9]*_gpu[^_]*(?:_.*)?|.*_dataloader[^_]*");
  const std::filesystem::path path(directory);
  Configuration found;
  found.name = (path.has_filename() ? path : path.parent_path()).filename().string();
  const std::string_view name = found.name;
  Match match;
  for (std::size_t at = 0, end = 0; at <= name.size(); at = end + 1) {
    end = std::min(name.find('_', at), name.size());
    if (!matches(name.substr(at, end - at), match, kWord)) continue;
    const std::string_view what(match[1].first, match[1].second);
    auto& value = what == "b" ? found.batch_size : what.starts_with('g') ? found.ranks : found.workers;
    value = number_of<std::uint64_t>(match, 2);
  }
  const bool whole = (found.batch_size > 0 && found.ranks > 0) || found.workers > 0;
  found.damaged = !whole && matches(name, match, kBegun);
  return found;
}

std::string part_text(const Part& part, bool with_pid, bool with_loader) {
  std::string text;
  if (with_pid) text += fmt::format("pid_{}_", part.pid);
  if (with_loader) text += fmt::format("loader_{}_", part.loader);
  return text + fmt::format("epoch_{}", part.epoch);
}

std::optional<Part> parse_part(std::string_view name) {
  static const std::regex kPattern("(?:pid_([0-9]{1,9})_)?(?:loader_([0-9]{1,9})_)?epoch_([0-9]{1,9})");
  Match match;
  if (!matches(name, match, kPattern)) return std::nullopt;
  return Part{number_of<std::uint64_t>(match, 1), number_of<std::uint64_t>(match, 2),
              number_of<std::uint64_t>(match, 3)};
}

}  // namespace lotus::analyzer::lotustrace
