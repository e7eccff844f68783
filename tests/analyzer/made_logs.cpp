#include "made_logs.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace lotus::analyzer::test {

namespace fs = std::filesystem;

TemporaryDirectory::TemporaryDirectory() {
  path_ = temporary_place() + "/lotus-analyzer-test-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory: " + path_);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TemporaryDirectory::write(const std::string& name, const std::string& text) const {
  const fs::path path = fs::path(path_) / fs::path(name).relative_path();
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string TemporaryDirectory::read(const std::string& name) const {
  std::stringstream text;
  text << std::ifstream(fs::path(path_) / name).rdbuf();
  return text.str();
}

std::string line(const std::string& name, double start_ms, double ms) {
  return fmt::format("{},{},{}\n", name, realtime(start_ms), std::llround(ms * 1e6));
}

std::string instant(const std::string& name, double ms) {
  return fmt::format("{},{},1000\n", name, realtime(ms));
}

namespace {

// The lines of one sample and its collation, which lie inside a batch.
std::string batch(int number, double from, double to) {
  std::string text = line("SCrop", from + 1.5, 2);
  if (to - from > 90) text += line("SCrop", from + 4, 80);
  text += line("SLoader", from + 0.1, 1) + line("STransform", from + 1.2, to - from - 1.7);
  return text + line("SCollation", to - 0.2, 0.05) +
         line(fmt::format("SBatchPreprocessed_{}", number), from, to - from);
}

}  // namespace

void write_five_batches(const TemporaryDirectory& directory, const std::string& inside, double later) {
  const double t = later;
  directory.write(inside + "/log_worker_pid_101",
                  batch(0, t + 10, t + 110) + batch(2, t + 120, t + 1300) + batch(4, t + 1301, t + 1305));
  directory.write(inside + "/log_worker_pid_102", batch(1, t + 10, t + 60) + batch(3, t + 70, t + 130));
  std::string main;
  for (int i = 0; i < 4; ++i) main += instant(fmt::format("SBatchQueued_{}", i), t + 1 + i);
  main += line("SBatchPinMemory_1", t + 62, 3) + instant("SBatchWait_1", t + 66);
  main += line("SBatchPinMemory_0", t + 112, 2) + line("SBatchWait_0", t + 5, 111);
  main += instant("SBatchQueued_4", t + 117) + instant("SBatchConsumed_0", t + 118);
  main += instant("SBatchConsumed_1", t + 702);
  main += instant("SBatchWait_3", t + 712) + line("SBatchWait_2", t + 710, 592);
  main += instant("SBatchConsumed_2", t + 1304) + instant("SBatchConsumed_3", t + 1312);
  main += line("SBatchWait_4", t + 1320, 0.5) + instant("SBatchConsumed_4", t + 1321);
  directory.write(inside + "/log_main_pid_100", main);
}

ImportedTrace import_logs(const std::string& directory, const Imported& facts,
                          const lotustrace::KnownFacts& known) {
  ImportedTrace made{std::make_unique<TemporaryFile>(Bytes{}), {}};
  const auto runs = lotustrace::find_runs({directory});
  if (runs.size() != 1) throw std::runtime_error("logs of several configurations");
  lotustrace::Complaints complaints([&](const std::string& text) { made.complaints.push_back(text); });
  Output out(made.file->path());
  lotustrace::Importer importer(runs.front(), known, facts, out, complaints);
  importer.run();
  out.close();
  return made;
}

}  // namespace lotus::analyzer::test
