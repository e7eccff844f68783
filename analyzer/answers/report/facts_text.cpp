#include <fmt/format.h>

#include "answers/report/cells.hpp"
#include "answers/report/sections.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

// Shares of time below this one are not told.
constexpr double kTellsOfFactsPercent = 2;

std::string sampler_line(const SamplerFinding& sampler) {
  const auto share = sampler.share_percent();
  if (!share || *share < kTellsOfFactsPercent) return {};
  return fmt::format(
      "the sampler took {} in training's process, {} of its loops: {} at the starts of epochs, {} for later "
      "batches",
      human_time(sampler.total()), human_percent(*share), human_time(sampler.first),
      human_time(sampler.later));
}

std::string dataset_call_line(const DatasetCall& call, double loop) {
  const auto share = percent_of(call.total, loop);
  if (!share || *share < kTellsOfFactsPercent) return {};
  return fmt::format("training steps called {} of the dataset {} times, for {}, {} of the loops",
                     escaped(call.name), human_count(call.calls), human_time(call.total),
                     human_percent(*share));
}

std::string lock_line(const LockFinding& lock, double fetch_time) {
  const auto share = percent_of(lock.total, fetch_time);
  if (!share || *share < kTellsOfFactsPercent) return {};
  const std::string where = lock.op.empty() ? "outside of operations" : "in " + escaped(lock.op);
  return fmt::format("waiting for a {} took {}, {} of preprocessing: {} waits, most of it {}", lock.name,
                     human_time(lock.total), human_percent(*share), human_count(lock.waits), where);
}

// Pools are told of where they compute, not because they exist.
std::string threads_line(const ThreadsFinding& threads) {
  constexpr double kTellsOfPoolsPercent = 20;  // of the computing, …
  constexpr double kTellsOfComputing = 0.02;   // … and of the time
  const auto others = threads.others_percent(), at_once = threads.at_once();
  const bool tells =
      others && *others >= kTellsOfPoolsPercent && *others / 100 * *at_once >= kTellsOfComputing;
  if (!tells) return {};
  const std::string most =
      threads.most > 0 ? fmt::format("up to {} threads", threads.most) : std::string("pools of threads");
  return fmt::format(
      "a process that makes batches has {}: threads beside the one that makes them do {} of its computing, "
      "{:.1f} compute at once",
      most, human_percent(*others), *at_once);
}

std::string interpreter_lock_line(const InterpreterLockFinding& lock) {
  constexpr double kTellsOfWaiting = 0.1;  // threads
  const auto waiting = lock.at_once();
  if (!waiting || *waiting < kTellsOfWaiting) return {};
  return fmt::format(
      "threads of the processes that make batches waited {} for the interpreter's lock (GIL): {:.1f} of a "
      "process at once",
      human_time(lock.waited), *waiting);
}

std::string memory_line(const MemoryFinding& memory) {
  constexpr double kTellsOfMemory = 64 << 20;
  if (memory.pid == 0 || memory.copied() < kTellsOfMemory) return {};
  return fmt::format("private memory of a worker (pid {}) grew from {} to {} in {} batches", memory.pid,
                     human_bytes(memory.first), human_bytes(memory.last), human_count(memory.batches));
}

std::string read_line(const FaultsFinding& faults) {
  constexpr double kTellsOfReading = 64 << 20;
  if (faults.read_first + faults.read_later < kTellsOfReading) return {};
  return fmt::format("{} were read from storage in first epochs, {} in later ones; the rest was cached",
                     human_bytes(faults.read_first), human_bytes(faults.read_later));
}

std::string garbage_line(const Findings& f) {
  const GarbageFinding& garbage = f.facts.garbage;
  constexpr std::uint64_t kTellsOfBatches = 10;  // from a collection in so many on
  const double share = percent_of(garbage.called, f.fetch_time).value_or(0);
  const double all = 100 * f.collecting_share();
  const bool often = garbage.known && garbage.old > 0 && garbage.old * kTellsOfBatches >= garbage.batches;
  std::string line;
  if (share >= kTellsOfFactsPercent)
    line = fmt::format("gc.collect() took {}, {} of preprocessing: {} calls", human_time(garbage.called),
                       human_percent(share), human_count(garbage.calls));
  if (often || all - share >= kTellsOfFactsPercent)
    line +=
        fmt::format("{}Python's garbage collector went through all objects {} times in {} batches{}",
                    line.empty() ? "" : "; ", human_count(garbage.old), human_count(garbage.batches),
                    garbage.sampled ? fmt::format(" and took {} of preprocessing", human_percent(all)) : "");
  return line;
}

std::string reopened_line(const ReopenedFinding& file, std::uint64_t batches) {
  constexpr std::uint64_t kTellsOfOpens = 20;
  if (file.again() < kTellsOfOpens || file.again() < batches / 2) return {};
  const std::string where =
      file.processes > 1 ? fmt::format("in {} processes", file.processes) : std::string("in one process");
  return fmt::format("opened again: {} {} times {}, {} were read from it", escaped(file.path),
                     human_count(file.opens), where, human_bytes(file.bytes));
}

}  // namespace

std::string facts_text(const Findings& f, const Terminal& terminal) {
  std::vector<std::string> lines = {sampler_line(f.facts.sampler)};
  for (const DatasetCall& call : f.facts.dataset_calls) lines.push_back(dataset_call_line(call, f.loop));
  for (const LockFinding& lock : f.facts.locks) lines.push_back(lock_line(lock, f.fetch_time));
  for (const ReopenedFinding& file : f.facts.reopened) lines.push_back(reopened_line(file, f.fetch.count()));
  lines.push_back(threads_line(f.facts.threads));
  lines.push_back(interpreter_lock_line(f.facts.interpreter_lock));
  lines.push_back(garbage_line(f));
  lines.push_back(memory_line(f.facts.memory));
  lines.push_back(read_line(f.facts.faults));
  std::string out;
  for (const std::string& line : lines)
    if (!line.empty()) out += "  " + wrapped(line, terminal.width - 2, 2) + "\n";
  return out;
}

}  // namespace lotus::analyzer
