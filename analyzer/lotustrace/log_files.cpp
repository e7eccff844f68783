#include "lotustrace/log_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "text/escape.hpp"
#include "trace/error.hpp"

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
      runs[home].directories.push_back(std::move(logs));
    }
  }
  std::vector<Run> list;
  for (auto& [home, run] : runs) {
    run.configuration = parse_configuration(home);
    std::stable_sort(run.directories.begin(), run.directories.end(),
                     [](const LogDirectory& a, const LogDirectory& b) { return a.part < b.part; });
    list.push_back(std::move(run));
  }
  return list;
}

void Complaints::add(const std::string& path, std::uint64_t line, const std::string& what) {
  if (count_++ < kTold) tell_(fmt::format("{}:{}: {}", escaped(path), line, what));
}

LogReader::LogReader(const LogFile& file, Complaints* complaints)
    : file_(file), complaints_(complaints), input_(std::fopen(file.path.c_str(), "re")) {
  if (input_ == nullptr)
    throw Unusable(fmt::format("{}: cannot be read: {}", escaped(file.path), std::strerror(errno)));
}

LogReader::~LogReader() {
  std::free(text_);
  std::fclose(input_);
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
  ssize_t length = 0;
  while ((length = ::getline(&text_, &room_, input_)) >= 0) {
    ++number_;
    std::string_view text(text_, static_cast<std::size_t>(length));
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    std::string expected;
    const auto parsed = parse_line(text, expected);
    shown_ = text;
    if (!parsed) {
      complain(expected);
    } else if (parsed->of_main() != file_.name.main) {
      complain(file_.name.main ? "a record of the training process: this one is a worker's"
                               : "a record of a worker: this one is the training process's");
    } else {
      ++good_;
      line = *parsed;
      return true;
    }
  }
  if (good_ == 0 && number_ > 0)
    throw Unusable(fmt::format("{}: no line of it is LotusTrace's: expected NAME,START_NS,DURATION_NS",
                               escaped(file_.path)));
  return false;
}

}  // namespace lotus::analyzer::lotustrace
