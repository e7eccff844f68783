#include "commands/command.hpp"

#include <cstdio>

namespace lotus::analyzer {
namespace {

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
    {"memory-plan", "what a training step would take with a smaller fast memory beside a slow one",
     "Plans for each storage of a step whether it lies in fast or in slow memory and when it moves, and "
     "predicts\n"
     "the time: a model of memory that the machine may not have.",
     prepare_memory_plan},
    {"map", "which native functions each operation runs, from samples of its stacks",
     "Lists the functions in which each operation's CPU time goes, with their share and its 95 % interval.\n"
     "Several traces are summed.",
     prepare_map},
    {"counters", "what counters of processor and kernel counted in each operation",
     "Prints what was counted in a run with LOTUS_COUNTERS: page faults, switches, instructions, misses; for "
     "each\n"
     "operation, with 95 % intervals. Several traces are summed.",
     prepare_counters},
    {"memory", "what memory a training step holds, by operator and line of the program",
     "Prints the peak of a recorded step, what was alive then and where it was made, what stays from step to "
     "step,\n"
     "and what is held longer than it is used. Of PyTorch's CPU memory; which steps are recorded: "
     "LOTUS_STEPS.",
     prepare_memory},
    {"control-flow", "what loops, branches and recursion cost, and what would be gained without them",
     "Prints of recorded regions or training steps which part of their time is work on tensors and which is\n"
     "Python and tests of it; for each loop, branch and recursion its counts, its line and its cost. What "
     "is\n"
     "recorded: LOTUS_REGION.",
     prepare_control_flow},
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

}  // namespace

std::span<const Command> commands() { return kCommands; }

void say(const std::string& text) { std::fputs(("lotus-analyze: " + text + "\n").c_str(), stderr); }

void add_traces(CLI::App& app, std::vector<std::string>& traces) {
  app.add_option("TRACE", traces, "trace files; none: the newest *.lotus in the working directory");
}

}  // namespace lotus::analyzer
