// LotusTrace's logs with anything in them, under any names: the trace that is made of them is whole.
//
// An input is text: a line ">NAME" begins the log NAME, a path below a directory; the lines behind it are its
// own.
#include <filesystem>
#include <fstream>
#include <map>

#include "fuzz.hpp"
#include "made_logs.hpp"
#include "report/report.hpp"
#include "trace/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 16;

bool may_be_in_a_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_' || c == '/';
}

// Below `root`, whatever the input says.
fs::path path_in(const fs::path& root, std::string_view name) {
  std::string kept;
  for (const char c : name.substr(0, 64))
    if (may_be_in_a_name(c)) kept += c;
  return root / fs::path(kept).relative_path();
}

void write_logs(const fs::path& root, std::string_view text) {
  std::ofstream file;
  std::size_t files = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + (text.find('\n') == text.npos ? 0 : 1));
    text.remove_prefix(line.empty() ? text.size() : line.size());
    if (!line.starts_with('>')) {
      file.write(line.data(), static_cast<std::streamsize>(line.size()));
      continue;
    }
    file = std::ofstream();
    if (++files > kMostFiles) return;
    const fs::path path = path_in(root, line.substr(1));
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    file.open(path, std::ios::app);
  }
}

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

// False: the logs are refused.
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
  static const TemporaryDirectory place;
  const fs::path root = fs::path(place.path()) / "logs";
  fs::create_directories(root);
  write_logs(root, {reinterpret_cast<const char*>(data), size});
  try {
    for (const auto& run : lotustrace::find_runs({root.string()})) {
      const fuzz::MemoryFile trace;
      if (import_run(run, trace.path())) check_trace(trace.path());
    }
  } catch (const Unusable&) {
  }
  fs::remove_all(root);
  return 0;
}
