// Hand-made logs of the research system. Times are given in ms since kRealtime.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "made_trace.hpp"
#include "paper/lotustrace/importer.hpp"

namespace lotus::analyzer::test {

// A directory that is removed with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  std::string path() const { return path_; }
  // Writes a file below the directory and makes missing directories in between.
  void write(const std::string& name, const std::string& text) const;
  // The text of a file below the directory.
  std::string read(const std::string& name) const;

 private:
  std::string path_;
};

// A log line with a start and a duration.
std::string line(const std::string& name, double start_ms, double ms);
// A log line of an instant, with the constant duration that LotusTrace writes.
std::string instant(const std::string& name, double ms);

// Writes the logs of two workers (pids 101 and 102) and five batches, with queued and pinned records. Batches
// 1 and 3 arrive out of order and are served from the cache later. Preprocessing takes 100, 50, 1180, 60 and
// 4 ms.
void write_five_batches(const TemporaryDirectory& directory, const std::string& inside, double later_ms = 0);

// The trace that is imported from all logs below a directory, which must have one configuration, and the
// complaints about lines that were left out.
struct ImportedTrace {
  std::unique_ptr<TemporaryFile> file;
  std::vector<std::string> complaints;
};
ImportedTrace import_logs(const std::string& directory, const Imported& facts = {},
                          const lotustrace::KnownFacts& known = {});

}  // namespace lotus::analyzer::test
