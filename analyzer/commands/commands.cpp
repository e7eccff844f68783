#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <lotus/trace.hpp>
#include <set>
#include <string>

#include "commands/command.hpp"
#include "commands/growing.hpp"
#include "model/model.hpp"
#include "text/escape.hpp"
#include "text/progress.hpp"
#include "text/units.hpp"
#include "trace/error.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr Command kCommands[] = {
    {"report", "why the input pipeline is slow: verdict, ops, batches, waits, workers",
     "Prints the verdict and its tables. Several traces are summed into one report, as for the ranks of one\n"
     "training run; --by-rank sets these side by side. With --html, a page for the browser that holds "
     "everything, charts too.",
     prepare_report},
    {"batches", "one row per batch, with all its times",
     "Prints one row per batch in order of loader, epoch and batch. Several traces are listed one after the\n"
     "other.",
     prepare_batches},
    {"timeline", "a timeline for ui.perfetto.dev and chrome://tracing",
     "Writes a timeline of processes, threads, batches, samples and ops; with --merge also of what the\n"
     "PyTorch profiler recorded in the same run.",
     prepare_timeline},
    {"whatif", "what more workers, a cheaper operation or a faster training step would do",
     "Replays the recorded batches through a model of the DataLoader, first as recorded, then as asked.\n"
     "What is not asked for stays as recorded.",
     prepare_whatif},
    {"map", "which native functions each operation runs, from samples of its stacks",
     "Lists the functions in which each operation's CPU time goes, with their share and its 95 % interval.\n"
     "Several traces are summed.",
     prepare_map},
    {"flame", "the stacks of each operation, for flame graphs",
     "Writes the CPU time of every stack: the operation, then Python and native functions, outermost first.\n"
     "Several traces are summed.",
     prepare_flame},
    {"diff", "what changed between two runs, beyond what is chance",
     "Compares two traces: time and CPU time of each call of an operation, and of each native function in "
     "it.",
     prepare_diff},
    {"table", "the tables of the research system's paper, from traces",
     "Prints a table: for people, as CSV or as JSON. Of several traces, one below the other.", prepare_table},
    {"figure", "the figures of the research system's paper, from traces",
     "Draws a figure, by Matplotlib, and writes its data beside it. Several traces, as of several "
     "configurations, make\n"
     "one figure.",
     prepare_figure},
    {"export", "a trace as the log files of LotusTrace",
     "Writes the logs that LotusTrace would have written in this run: one directory an epoch. Several traces "
     "get a\n"
     "directory each.",
     prepare_export},
    {"import", "a trace of LotusTrace's log files",
     "Makes a trace of existing logs, so that all other commands work on them.", prepare_import},
    {"info", "what a trace holds: processes, loaders, records, losses, damage",
     "Prints what a trace says about itself and how well it could be read.", prepare_info},
    {"dump", "every record as text, one a line",
     "Prints the records chunk by chunk as they lie in the file: in order of time within a thread.\n"
     "Sort by the first field for an order over all threads.",
     prepare_dump},
    {"recover", "a whole trace from what is left of a damaged one, and what is gone",
     "Goes through all bytes of a trace that is damaged or cut off, and writes what is whole in it as a "
     "trace that\n"
     "is closed: with file header, schema, index and trailer. Events that are gone count as lost there.",
     prepare_recover},
    {"redact", "a copy without paths and command lines, to give to others",
     "Writes a copy of a trace in which hashes stand for paths, command lines, program and host names. The "
     "same\n"
     "path has the same hash in every copy that was made with the same key.",
     prepare_redact},
};

// Made of another trace, for others.
bool is_copy(const fs::path& path) {
  const fs::path kind = path.stem().extension();
  return kind == ".recovered" || kind == ".redacted";
}

// Also x.lotus.1, to which a collector turns where somebody else's x.lotus stands.
bool is_trace(const fs::path& path) {
  const std::string kind = path.extension().string();
  const bool number = kind.size() > 1 && kind.find_first_not_of("0123456789", 1) == std::string::npos;
  return kind == kTraceSuffix || (number && path.stem().extension() == kTraceSuffix);
}

// Copies only where there is nothing else.
std::string newest_here() {
  std::string newest;
  fs::file_time_type latest{};
  bool copy = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(".", error)) {
    std::error_code ignored;
    if (!is_trace(entry.path()) || !entry.is_regular_file(ignored)) continue;
    const auto written = entry.last_write_time(ignored);
    const bool better = is_copy(entry.path()) == copy ? written > latest : copy;
    if (!newest.empty() && !better) continue;
    newest = entry.path().filename().string();
    copy = is_copy(entry.path());
    latest = written;
  }
  return newest;
}

// On stderr, once for each file: what any number that is printed may lack.
void tell_what_is_missing(const Trace& trace, const Reading& reading) {
  static std::set<std::string> told;
  const std::uint64_t damaged = trace.damage.bytes + reading.damage.bytes;
  if ((!trace.truncated() && damaged == 0) || !told.insert(trace.source.path()).second) return;
  const bool running = trace.truncated() && is_being_written(trace.source.path());
  std::string text = fmt::format("lotus-analyze: {}: ", escaped(trace.source.path()));
  if (damaged > 0)
    text += fmt::format("{} are damaged and left out; ", human_bytes(static_cast<double>(damaged)));
  if (running)
    text +=
        "it is still being written: the last seconds come later, and names of new functions some minutes "
        "later; ";
  else if (trace.truncated())
    text +=
        "not complete: its collector was killed, or the file was cut off; what is left in shared memory, "
        "lotus-collector --drain adds; ";
  text += running ? "lotus-analyze info says more\n"
                  : "lotus-analyze info says more, recover makes what is here a whole trace\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

void add_traces(CLI::App& app, std::vector<std::string>& traces) {
  app.add_option("TRACE", traces, "trace files; none: the newest *.lotus in the working directory");
}

std::vector<std::string> chosen_traces(const std::vector<std::string>& named) {
  for (const std::string& path : named) wait_until_closed(path);
  if (!named.empty()) return named;
  const std::string newest = newest_here();
  if (newest.empty())
    throw Unusable(
        fmt::format("no *{} in the working directory; name a trace, or make one with "
                    "LD_PRELOAD=…/liblotus.so python train.py",
                    kTraceSuffix));
  wait_until_closed(newest);
  return {newest};
}

Reading read_trace(Trace& trace, Visitor& visitor, bool quiet) {
  Reading reading = [&] {
    Progress progress(trace.source.path(), trace.source.size());
    Model model(trace, visitor, [&](std::uint64_t done) { progress.update(done); });
    return model.run();
  }();
  if (!quiet) tell_what_is_missing(trace, reading);
  return reading;
}

}  // namespace lotus::analyzer
