// Names of the research system's log files and directories, and what they say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lotus::analyzer::lotustrace {

// {prefix}_worker_pid_{pid}, {prefix}_main_pid_{pid}; the prefix is what the user gave as log_file.
struct LogName {
  std::string prefix;
  std::uint32_t pid = 0;
  bool main = false;

  std::string text() const;
};

// None: not the name of a log.
std::optional<LogName> parse_log_name(std::string_view name);

// The configuration in the name of a directory of runs. 0: not in the name.
struct Configuration {
  std::string name;  // of the directory
  std::uint64_t batch_size = 0, ranks = 0, workers = 0;
  bool damaged = false;  // a pattern is begun that cannot be read, as in b512_gpu or b_gpu2
};

// Of the words, parted by _, of the directory's own name: b<batch>, gpu<ranks>, and dataloader<n>, workers<n>
// or w<n>, in any order and among others.
Configuration parse_configuration(const std::string& directory);

// Which part of a run a directory of an exported trace holds: [pid_P_][loader_L_]epoch_E.
struct Part {
  std::uint64_t pid = 0, loader = 0, epoch = 0;

  // clang-tidy 14 takes the comparison of the result with 0, which it makes, for a null pointer.
  auto operator<=>(const Part&) const = default;  // NOLINT(modernize-use-nullptr)
};
std::string part_text(const Part& part, bool with_pid, bool with_loader);
std::optional<Part> parse_part(std::string_view name);

}  // namespace lotus::analyzer::lotustrace
