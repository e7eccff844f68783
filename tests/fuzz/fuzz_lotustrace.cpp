// LotusTrace's logs with arbitrary names and content: the trace imported from them is complete.
//
// An input is text: a line ">NAME" begins the log NAME, a path below a directory; the lines behind it are
// that log's lines.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "answers/report/report.hpp"
#include "fuzz.hpp"
#include "made_logs.hpp"
#include "text/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 16, kLongestName = 255;

// The logs of an input, in memory: writing files for find_runs() would be slow.
class Logs {
 public:
  explicit Logs(std::string_view text) {
    while (!text.empty() && files_.size() < kMostFiles) {
      const std::size_t next = text.find("\n>", 1);
      add(text.substr(0, next == text.npos ? next : next + 1));
      text.remove_prefix(next == text.npos ? text.size() : next + 1);
    }
  }

  // Throws Unusable.
  std::vector<lotustrace::Run> runs() const {
    std::map<std::string, lotustrace::Run> found;
    for (const auto& [name, logs] : directories_) {
      const fs::path path(name);
      const auto part = lotustrace::parse_part(path.filename().string());
      auto& directories = found[(part ? path.parent_path() : path).string()].directories;
      directories.push_back(logs);
      directories.back().path = name;
      if (part) directories.back().part = *part;
    }
    std::vector<lotustrace::Run> runs;
    for (auto& [home, run] : found) {
      run.configuration = lotustrace::parse_configuration(home);
      std::stable_sort(run.directories.begin(), run.directories.end(),
                       [](const auto& a, const auto& b) { return a.part < b.part; });
      runs.push_back(std::move(run));
    }
    return runs;
  }

 private:
  // ">NAME\n" and the lines of the log.
  void add(std::string_view text) {
    const std::size_t end = text.find('\n');
    if (end == text.npos || end > kLongestName || text[0] != '>') return;
    const fs::path path = "/logs/" + std::string(text.substr(1, end - 1));
    const auto name = lotustrace::parse_log_name(path.filename().string());
    if (!name) return;
    auto& directory = directories_[path.parent_path().string()];
    auto& files = name->main ? directory.main : directory.workers;
    const bool second = std::any_of(files.begin(), files.end(), [&](const lotustrace::LogFile& other) {
      return name->main || other.name.pid == name->pid;
    });
    if (second) return;
    text.remove_prefix(end + 1);
    files_.push_back(std::make_unique<fuzz::MemoryFile>(fuzz::Bytes(text.begin(), text.end())));
    files.push_back({files_.back()->path(), *name});
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.name.pid < b.name.pid; });
  }

  std::map<std::string, lotustrace::LogDirectory> directories_;
  std::vector<std::unique_ptr<fuzz::MemoryFile>> files_;
};

class InOrder : public Visitor {
 public:
  bool wants_records() const override { return true; }
  void on_record(const Stream& stream, const RecordAt& at) override {
    std::uint64_t& last = last_[&stream];
    fuzz::promise(at.ticks >= last, "a thread's records are in order of time");
    last = at.ticks;
  }

 private:
  std::map<const Stream*, std::uint64_t> last_;
};

void check_trace(const std::string& path) {
  Trace trace(path);
  InOrder records;
  const Reading reading = show(trace, records);
  fuzz::promise(!trace.truncated() && trace.damage.count == 0, "an imported trace is whole");
  fuzz::promise(reading.damage.count == 0 && reading.gaps == 0, "so are its chunks");
  fuzz::promise(reading.unmatched_leaves == 0 && reading.open_spans == 0, "what began in it ends in it");
  fuzz::promise(!report_text(findings_of(trace), Terminal{}).empty(), "it can be reported");
}

// Returns false if the logs are refused.
bool import_run(const lotustrace::Run& run, const std::string& path) {
  lotustrace::Complaints complaints(
      [](const std::string& text) { fuzz::promise(!text.empty(), "a complaint says something"); });
  const lotustrace::KnownFacts known;
  const Imported facts;
  Output out(path);
  try {
    lotustrace::Importer(run, known, facts, out, complaints).run();
  } catch (const Unusable&) {
    return false;
  }
  out.close();
  return true;
}

std::string text_of(const TemporaryDirectory& logs) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(logs.path())) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().lexically_relative(logs.path()).string();
    text += ">" + name + "\n" + logs.read(name);
  }
  return text;
}

fuzz::Bytes bytes_of_text(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
  const TemporaryDirectory one;
  write_five_batches(one, "b512_gpu2");
  const TemporaryDirectory epochs;
  write_five_batches(epochs, "x_dataloader2/epoch_1");
  write_five_batches(epochs, "x_dataloader2/epoch_2", 2000);
  const std::string alone = ">log_worker_pid_100\n" + line("SCrop", 1, 2) + line("SCollation", 4, 1) +
                            line("SBatchPreprocessed_0", 0, 6) + line("SLoader", 7, 1) +
                            line("SBatchPreprocessed_1", 7, 2) + ">log_main_pid_100\n" +
                            line("SBatchWait_0", 0, 6) + instant("SBatchConsumed_0", 6.5) +
                            line("SBatchWait_1", 7, 2) + instant("SBatchConsumed_1", 9.5);
  return {bytes_of_text(text_of(one)), bytes_of_text(text_of(epochs)), bytes_of_text(alone)};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Logs logs({reinterpret_cast<const char*>(data), size});
  std::vector<lotustrace::Run> runs;
  try {
    runs = logs.runs();
  } catch (const Unusable&) {
    return 0;
  }
  for (const auto& run : runs) {
    const fuzz::MemoryFile trace;
    if (import_run(run, trace.path())) check_trace(trace.path());
  }
  return 0;
}
