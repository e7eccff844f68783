// The commands of lotus-analyze: one row each in commands.cpp, one file each beside it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reading/input/chosen_traces.hpp"
#include "reading/input/read_trace.hpp"

namespace lotus::analyzer {

// Does the command's work; throws Unusable or WrongUsage.
using Run = std::function<void()>;

struct Command {
  const char* name;
  const char* synopsis;           // one line, for the list of commands
  const char* usage;              // what `lotus-analyze NAME --help` says about it
  Run (*prepare)(CLI::App& app);  // declares the options on `app`
};

std::span<const Command> commands();

Run prepare_info(CLI::App& app);
Run prepare_dump(CLI::App& app);
Run prepare_report(CLI::App& app);
Run prepare_batches(CLI::App& app);
Run prepare_timeline(CLI::App& app);
Run prepare_whatif(CLI::App& app);
Run prepare_memory_plan(CLI::App& app);
Run prepare_map(CLI::App& app);
Run prepare_counters(CLI::App& app);
Run prepare_memory(CLI::App& app);
Run prepare_control_flow(CLI::App& app);
Run prepare_flame(CLI::App& app);
Run prepare_diff(CLI::App& app);
Run prepare_export(CLI::App& app);
Run prepare_import(CLI::App& app);
Run prepare_table(CLI::App& app);
Run prepare_figure(CLI::App& app);
Run prepare_recover(CLI::App& app);
Run prepare_redact(CLI::App& app);

// A line on standard error, beside what a command prints.
void say(const std::string& text);

// Declares the arguments TRACE…
void add_traces(CLI::App& app, std::vector<std::string>& traces);

}  // namespace lotus::analyzer
