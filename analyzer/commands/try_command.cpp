#include "commands/try_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "answers/causes/diagnosis.hpp"
#include "answers/report/trial.hpp"
#include "text/error.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

// As the collector's program finds it: beside this program, or where it is installed.
std::string library() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* relative : {"../lib", ".", "../lib/x86_64-linux-gnu", "../lib64"}) {
    const fs::path path = (here / relative / "liblotus.so").lexically_normal();
    if (!error && fs::exists(path, error)) return path.string();
  }
  return "/path/to/liblotus.so";
}

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("/._-+:@%=,").find(c) != std::string_view::npos;
}

std::string quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// A trace has no more bytes of a command line (preload/life/describe.cpp).
constexpr std::size_t kMostArguments = 2047;

// A trace has the words of a command line, not their quotes.
bool may_lack_quotes(const std::string& arguments) {
  return !std::all_of(arguments.begin(), arguments.end(), [](char c) { return c == ' ' || is_plain(c); });
}

// The process that was started: of a launcher's ranks, the launcher.
const Process* started_process(const Trace& trace, std::uint32_t pid) {
  const Process* found = nullptr;
  for (std::size_t generation = 0; generation < trace.catalog.processes().size(); ++generation) {
    const Process* parent = nullptr;
    for (const auto& [number, process] : trace.catalog.processes())
      if (process->pid == pid && !process->arguments.empty() && process.get() != found)
        parent = process.get();
    if (parent == nullptr) break;
    found = parent;
    pid = parent->parent_pid;
  }
  return found;
}

bool names_settings(const Question& q) {
  return q.workers || q.prefetch || q.in_order || q.pin_memory || q.persistent;
}

}  // namespace

Question question_to_try(const Findings& findings, const Recording& recording, const Question& asked) {
  if (!asked.ops.empty() || asked.step.factor || asked.step.ns || asked.cores)
    throw WrongUsage("--try: only settings of the loader can be tried, not --op, --train-step or --cores");
  if (names_settings(asked)) return asked;
  std::string best;
  double gain = 0;
  const Case c(findings);
  if (c.recording() != &recording) return {};  // the report has no advice on this loader
  for (const Advice& advice : diagnosis_of(c).advice) {
    if (!advice.prediction) continue;
    const std::string settings = settings_to_try(recording, advice.prediction->settings);
    if (settings.empty() || advice.gain_percent <= gain) continue;
    best = settings;
    gain = advice.gain_percent;
  }
  return question_of(best).value_or(Question());
}

TryCommand try_command(const Trace& trace, const Answer& answer) {
  const Recording& recording = answer.replay.recording();
  TryCommand command;
  command.settings = settings_to_try(recording, answer.prediction.settings);
  if (command.settings.empty()) return command;
  const Process* process = started_process(trace, recording.pid);
  if (process == nullptr)
    throw Unusable(recording.file + ": holds no command line that could be tried again");
  std::error_code error;
  const bool here = process->directory.empty() || fs::current_path(error).string() == process->directory;
  if (!here) command.line = "cd " + quoted(process->directory) + " && ";
  command.line += fmt::format("LOTUS_TRY=\"{}\" LD_PRELOAD={} {}", command.settings, quoted(library()),
                              process->arguments);
  const Range& range = answer.prediction.images_per_s;
  command.about = fmt::format("{} {}/s [{}, {}] are predicted; {} were recorded",
                              human_rate(answer.prediction.achieved.images_per_s()), recording.unit,
                              human_rate(range.low), human_rate(range.high),
                              human_rate(recording.achieved.images_per_s()));
  if (may_lack_quotes(process->arguments)) command.about += "; quotes of the command line are not recorded";
  if (process->arguments.size() >= kMostArguments) command.about += "; the command line is cut off";
  return command;
}

}  // namespace lotus::analyzer
