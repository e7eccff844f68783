#include "paper/lotustrace/log_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer::lotustrace {
namespace {

namespace fs = std::filesystem;

void check_one_run(const LogDirectory& found) {
  constexpr const char* kRemedy =
      "put the logs of each run into a directory of their own, by prefix and process id";
  if (found.main.size() > 1)
    throw Unusable(fmt::format("{}: holds logs of two runs, {} and {}: expected one main process; {}",
                               escaped(found.path), escaped(found.main[0].name.text()),
                               escaped(found.main[1].name.text()), kRemedy));
  std::set<std::string> prefixes;
  for (const auto* files : {&found.main, &found.workers})
    for (const LogFile& file : *files) prefixes.insert(file.name.prefix);
  if (prefixes.size() > 1)
    throw Unusable(fmt::format("{}: holds logs of two runs, with prefixes '{}' and '{}': expected one; {}",
                               escaped(found.path), escaped(*prefixes.begin()), escaped(*prefixes.rbegin()),
                               kRemedy));
}

void search(const fs::path& path, std::vector<LogDirectory>& all, int depth) {
  constexpr int kDeepest = 8;
  LogDirectory here;
  here.path = path.string();
  std::vector<fs::path> below;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    std::error_code ignored;
    const auto name = parse_log_name(entry.path().filename().string());
    if (entry.is_directory(ignored))
      below.push_back(entry.path());
    else if (name)
      (name->main ? here.main : here.workers).push_back({entry.path().string(), *name});
  }
  if (error)
    throw Unusable(fmt::format("{}: cannot be read: {}; name a directory of LotusTrace logs",
                               escaped(path.string()), error.message()));
  for (auto* files : {&here.main, &here.workers})
    std::sort(files->begin(), files->end(),
              [](const LogFile& a, const LogFile& b) { return a.name.pid < b.name.pid; });
  check_one_run(here);
  if (!here.main.empty() || !here.workers.empty()) all.push_back(std::move(here));
  std::sort(below.begin(), below.end());
  if (depth < kDeepest)
    for (const auto& directory : below) search(directory, all, depth + 1);
}

// Directories that are named as parts of a run stand for all of it.
void check_one_run(const std::string& home, const Run& run) {
  const auto is_home = [&](const LogDirectory& logs) { return logs.path == home; };
  const auto part = std::find_if_not(run.directories.rbegin(), run.directories.rend(), is_home);
  if (part == run.directories.rend() || std::none_of(run.directories.begin(), run.directories.end(), is_home))
    return;
  throw Unusable(fmt::format(
      "{}: holds logs beside those of {}, another run's: put each run into a directory of its own",
      escaped(home), escaped(fs::path(part->path).filename().string())));
}

// The last `count` names of a path.
std::string end_of(const fs::path& path, std::size_t count) {
  std::vector<std::string> names;
  for (const fs::path& name : path.relative_path())
    if (!name.empty() && name != ".") names.push_back(name.string());
  std::string text;
  for (std::size_t i = names.size() - std::min(count, names.size()); i < names.size(); ++i)
    text += (text.empty() ? "" : "_") + names[i];
  return text;
}

// Configurations of the same name are called by their directories, too: as far up as they need it. A
// published tree has the same names below several.
void tell_apart(std::vector<Run>& runs, const std::vector<fs::path>& homes) {
  constexpr std::size_t kMostNames = 64;
  const auto same = [&](std::size_t i) {
    return std::count_if(runs.begin(), runs.end(), [&](const Run& run) {
             return run.configuration.name == runs[i].configuration.name;
           }) > 1;
  };
  for (std::size_t count = 2; count < kMostNames; ++count) {
    std::vector<std::size_t> alike;
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (same(i)) alike.push_back(i);
    if (alike.empty()) return;
    for (const std::size_t i : alike) runs[i].configuration.name = end_of(homes[i], count);
  }
}

}  // namespace

std::vector<Run> find_runs(const std::vector<std::string>& directories) {
  std::map<std::string, Run> runs;  // by the directory that is the configuration
  for (const auto& directory : directories) {
    std::vector<LogDirectory> found;
    const fs::path root = fs::absolute(directory).lexically_normal();
    search(root.has_filename() ? root : root.parent_path(), found, 0);
    if (found.empty())
      throw Unusable(
          fmt::format("{}: holds no LotusTrace logs: expected files PREFIX_worker_pid_N and "
                      "PREFIX_main_pid_N",
                      escaped(directory)));
    for (LogDirectory& logs : found) {
      const fs::path path(logs.path);
      const auto part = parse_part(path.filename().string());
      const std::string home = (part ? path.parent_path() : path).string();
      if (part) logs.part = *part;
      auto& known = runs[home].directories;
      const bool twice =
          std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.path == logs.path; });
      if (!twice) known.push_back(std::move(logs));
    }
  }
  std::vector<Run> list;
  std::vector<fs::path> homes;
  for (auto& [home, run] : runs) {
    homes.emplace_back(home);
    run.configuration = parse_configuration(home);
    check_one_run(home, run);
    std::stable_sort(run.directories.begin(), run.directories.end(),
                     [](const LogDirectory& a, const LogDirectory& b) { return a.part < b.part; });
    list.push_back(std::move(run));
  }
  tell_apart(list, homes);
  return list;
}

void Complaints::add(const std::string& path, std::uint64_t line, const std::string& what) {
  if (path == path_ && line == line_) return;
  path_ = path;
  line_ = line;
  if (count_++ < kTold) tell_(fmt::format("{}:{}: {}", escaped(path), line, what));
}

LogReader::LogReader(const LogFile& file, Complaints* complaints)
    : file_(file), complaints_(complaints), input_(std::fopen(file.path.c_str(), "re")) {
  if (input_ == nullptr)
    throw Unusable(fmt::format("{}: cannot be read: {}", escaped(file.path), std::strerror(errno)));
  typical_ = typical_start();
}

LogReader::~LogReader() {
  std::free(text_);
  std::fclose(input_);
}

bool LogReader::read_line() {
  const ssize_t length = ::getline(&text_, &room_, input_);
  if (length < 0) return false;
  shown_ = std::string_view(text_, static_cast<std::size_t>(length));
  while (shown_.ends_with('\n') || shown_.ends_with('\r')) shown_.remove_suffix(1);
  return true;
}

// The median start of some lines that are spread over the file. Leaves the file at its beginning.
std::optional<std::int64_t> LogReader::typical_start() {
  constexpr long kLooks = 9;
  std::fseek(input_, 0, SEEK_END);
  const long size = std::ftell(input_);
  std::vector<std::int64_t> starts;
  std::string ignored;
  for (long i = 0; i < kLooks; ++i) {
    std::fseek(input_, size / kLooks * i, SEEK_SET);
    if (i > 0) read_line();  // the rest of one
    if (!read_line()) continue;
    if (const auto line = parse_line(shown_, ignored)) starts.push_back(line->start);
  }
  std::rewind(input_);
  if (starts.empty()) return std::nullopt;
  const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
  std::nth_element(starts.begin(), middle, starts.end());
  return *middle;
}

// What was expected instead of this record; empty: it is good.
std::string LogReader::why_not(const Line& line) const {
  constexpr std::int64_t kLongestRunNs = 366LL * 24 * 3600 * 1'000'000'000;
  if (line.of_main() != file_.name.main)
    return file_.name.main ? "a record of the training process: this one is a worker's"
                           : "a record of a worker: this one is the training process's";
  if (typical_ && std::abs(line.start - *typical_) > kLongestRunNs)
    return fmt::format("START_NS within a year of this file's others, as {}", *typical_);
  return {};
}

void LogReader::complain(const std::string& expected) {
  if (complaints_ == nullptr) return;
  constexpr std::size_t kShown = 60;
  const std::string shown = escaped(shown_.substr(0, kShown));
  complaints_->add(
      file_.path, number_,
      fmt::format("'{}{}' is left out: expected {}", shown, shown_.size() > kShown ? "…" : "", expected));
}

bool LogReader::next(Line& line) {
  while (read_line()) {
    ++number_;
    std::string expected;
    const auto parsed = parse_line(shown_, expected);
    if (parsed) expected = why_not(*parsed);
    if (expected.empty()) {
      ++good_;
      line = *parsed;
      return true;
    }
    complain(expected);
  }
  if (good_ == 0 && number_ > 0)
    throw Unusable(fmt::format("{}: no line of it is LotusTrace's: expected NAME,START_NS,DURATION_NS",
                               escaped(file_.path)));
  return false;
}

}  // namespace lotus::analyzer::lotustrace
