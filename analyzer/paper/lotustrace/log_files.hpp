// The log files that an import reads, and what is wrong with them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "paper/lotustrace/log_line.hpp"
#include "paper/lotustrace/log_name.hpp"

namespace lotus::analyzer::lotustrace {

struct LogFile {
  std::string path;
  LogName name;
};

// A directory that holds log files: those of one run, of one epoch or of several.
struct LogDirectory {
  std::string path;
  Part part;                           // what its name says, if it is one of an export
  std::vector<LogFile> main, workers;  // by process id
};

// The log directories of one configuration.
struct Run {
  Configuration configuration;
  std::vector<LogDirectory> directories;  // in order of their parts and names
};

// Finds the logs in and below these directories, grouped by configuration: directories named as parts of an
// exported trace belong to the one around them, others to themselves. Throws Unusable where there are none,
// or where one directory holds those of two runs.
std::vector<Run> find_runs(const std::vector<std::string>& directories);

// What could not be used, said in a sentence each.
class Complaints {
 public:
  static constexpr std::size_t kTold = 10;

  using Tell = std::function<void(const std::string&)>;
  // `tell` gets the first kTold sentences.
  explicit Complaints(Tell tell) : tell_(std::move(tell)) {}

  // At a line, from 1, of a file. Of several about one line, one after the other, the first counts.
  void add(const std::string& path, std::uint64_t line, const std::string& what);
  std::uint64_t count() const { return count_; }

 private:
  Tell tell_;
  std::uint64_t count_ = 0;
  std::string path_;  // of the last
  std::uint64_t line_ = 0;
};

// Reads the lines of one log, one after the other.
class LogReader {
 public:
  // Throws Unusable when it cannot be opened. Damaged lines go to `complaints` (nullptr: nowhere) and are
  // left out, as are those that belong into the other kind of file, and those of quite another time than
  // most.
  LogReader(const LogFile& file, Complaints* complaints);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;
  ~LogReader();

  // False at the end. `line` is valid until the next call.
  bool next(Line& line);
  std::uint64_t number() const { return number_; }  // of the last line, from 1
  std::uint64_t good() const { return good_; }

 private:
  bool read_line();
  std::optional<std::int64_t> typical_start();
  std::string why_not(const Line& line) const;
  void complain(const std::string& expected);

  const LogFile& file_;
  Complaints* complaints_;
  std::FILE* input_;
  std::optional<std::int64_t> typical_;  // of its records' starts
  char* text_ = nullptr;
  std::size_t room_ = 0;
  std::string_view shown_;  // the line, without its end
  std::uint64_t number_ = 0, good_ = 0;
};

}  // namespace lotus::analyzer::lotustrace
