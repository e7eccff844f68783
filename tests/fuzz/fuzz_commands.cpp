// A trace file with arbitrary content, given to every command of `lotus-analyze` that only reads traces.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "commands/command.hpp"
#include "text/error.hpp"
#include "trace_input.hpp"

using namespace lotus::analyzer;

namespace {

constexpr const char* kTrace = "TRACE";          // replaced by the input's path
constexpr const char* kDirectory = "DIRECTORY";  // replaced by a directory that does not exist yet
using Words = std::array<const char*, 12>;       // unused ones are null

// The first byte of an input selects a line.
constexpr Words kLines[] = {
    {"report", kTrace},
    {"report", "--json", kTrace, kTrace},
    {"report", "--html", "-", kTrace},
    {"report", "--by-rank", kTrace},
    {"report", "--by-rank", "--json", kTrace},
    {"batches", kTrace},
    {"batches", "--csv", kTrace},
    {"batches", "--json", kTrace},
    {"timeline", "-o", "-", kTrace},
    {"timeline", "-o", "-", "--coarse", "--format", "perfetto", kTrace},
    {"timeline", "-o", "-", "--format", "perfetto", kTrace},
    {"whatif", "--workers", "4", kTrace},
    {"whatif", "--json", "--prefetch", "1", "--in-order", "false", "--cores", "3", "--train-step", "1ms",
     kTrace},
    {"whatif", "--op", "Loader=0.5x", "--persistent", "true", "--pin-memory", "true", "--workers", "0",
     kTrace},
    {"memory-plan", "--solver", "builtin", kTrace},
    {"counters", kTrace},
    {"counters", "--json", kTrace},
    {"counters", "--csv", kTrace},
    {"memory", kTrace},
    {"memory", "--json", kTrace},
    {"memory", "--folded", kTrace},
    {"map", kTrace},
    {"map", "--full", kTrace},
    {"map", "--json", kTrace},
    {"flame", kTrace},
    {"flame", "--format", "speedscope", kTrace},
    {"diff", kTrace, kTrace},
    {"diff", "--json", kTrace, kTrace},
    {"table", "mapping", kTrace},
    {"table", "ops", "--json", kTrace},
    {"table", "functions", "--csv", kTrace},
    {"table", "batches", kTrace},
    {"table", "waits", kTrace},
    {"table", "counters", kTrace},
    {"export", kDirectory, kTrace},
    {"info", kTrace},
    {"info", "--json", kTrace},
    {"dump", kTrace},
    {"dump", "--json", kTrace},
};

// Suppresses stdio output during its lifetime. Reports of the sanitizers are still printed.
class Quiet {
 public:
  Quiet() { stdout = stderr = kNowhere; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() {
    stdout = output_;
    stderr = errors_;
  }

 private:
  static inline std::FILE* const kNowhere = std::fopen("/dev/null", "w");
  std::FILE* output_ = stdout;
  std::FILE* errors_ = stderr;
};

void run(const Words& words, const std::string& trace, const std::string& directory) {
  const auto all = commands();
  const auto command = std::find_if(
      all.begin(), all.end(), [&](const Command& one) { return std::string_view(one.name) == words[0]; });
  lotus::fuzz::promise(command != all.end(), "there is such a command");
  CLI::App app;
  const Run work = command->prepare(app);
  std::vector<std::string> rest;  // in reverse order, as CLI11 expects
  for (std::size_t i = 1; i < words.size() && words[i] != nullptr; ++i)
    rest.insert(rest.begin(), words[i] == kTrace ? trace : words[i] == kDirectory ? directory : words[i]);
  app.parse(std::move(rest));
  const Quiet quiet;
  try {
    work();
  } catch (const Unusable&) {
  } catch (const WrongUsage&) {
  }
}

}  // namespace

std::vector<lotus::fuzz::Bytes> lotus::fuzz::seeds() {
  const Bytes trace = pipeline_trace();
  std::vector<Bytes> all;
  for (std::size_t line = 0; line < std::size(kLines); ++line) {
    Bytes seed{static_cast<std::uint8_t>(line), kHeader | kChecks | kSizes};
    seed.insert(seed.end(), trace.begin(), trace.end());
    all.push_back(std::move(seed));
  }
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  lotus::fuzz::Bytes bytes(data + 2, data + size);
  lotus::fuzz::mend_trace(bytes, data[1]);
  const lotus::fuzz::MemoryFile file(bytes);
  const std::string directory =
      (std::filesystem::temp_directory_path() / ("lotus-fuzz-" + std::to_string(getpid()))).string();
  run(kLines[data[0] % std::size(kLines)], file.path(), directory);
  std::filesystem::remove_all(directory);
  return 0;
}
