#include <fmt/format.h>

#include <algorithm>

#include "answers/report/cells.hpp"
#include "answers/report/sections.hpp"
#include "answers/report/system_calls.hpp"
#include "answers/stacks/frame_table.hpp"
#include "text/escape.hpp"
#include "text/function_name.hpp"
#include "text/table.hpp"

namespace lotus::analyzer {
namespace {

std::string top_function(const NativeFinding& native) {
  if (native.function.empty()) return "-";
  return fmt::format("{} {}{}", human_percent(100 * native.share),
                     escaped(function_text(native.function, native.under, native.by_code)),
                     native.python ? " (Python)" : "");
}

std::string bytes_per_call(const OpFinding& op) {
  const auto calls = static_cast<double>(op.wall.count());
  const FileIo& io = op.native.io;
  if (calls == 0 || (io.read == 0 && io.mapped == 0)) return "-";
  return io.mapped > io.read ? human_bytes(io.mapped / calls) + " mapped" : human_bytes(io.read / calls);
}

std::string place_of(const WaitFinding& wait) {
  const std::string name = readable_function(wait.function);
  if (wait.file.empty()) return name.empty() ? "-" : escaped(name);
  return place_of(StandingFrame{name, wait.file, wait.line});
}

}  // namespace

std::string native_text(const Findings& f, const Terminal& terminal) {
  const bool known = std::any_of(f.ops.begin(), f.ops.end(), [](const OpFinding& op) {
    return op.native.samples > 0 || op.native.io.calls > 0;
  });
  if (!known) return {};
  Table table({{.title = "operation", .right = false},
               {"on CPU"},
               {.title = "off CPU", .importance = 3},
               {"file I/O"},
               {.title = "read/call", .importance = 1},
               {.title = "samples", .importance = 2},
               {.title = "most CPU in", .right = false, .flexible = true, .narrowest = 30}});
  for (const auto& op : f.ops) {
    const auto cpu = op.cpu_percent(f);
    table.add({escaped(op.op.name), percent_or_dash(cpu),
               percent_or_dash(cpu ? std::optional(100 - *cpu) : cpu), percent_or_dash(op.io_percent()),
               bytes_per_call(op), human_count(op.native.samples), top_function(op.native)});
  }
  return table.text(terminal);
}

std::string waits_text(const Findings& f, const Terminal& terminal, bool all) {
  constexpr std::size_t kMostRows = 8;
  constexpr double kLeastShown = 0.001;  // of all fetches
  if (f.waits.empty()) return {};
  Table table({{.title = "in", .right = false, .flexible = true, .narrowest = 20},
               {.title = "doing", .right = false},
               {.title = "operation", .right = false, .importance = 2},
               {"times"},
               {"total"},
               {.title = "longest", .importance = 1},
               {.title = "of fetches", .importance = 3}});
  std::size_t rows = 0;
  for (const WaitFinding& wait : f.waits) {
    if (!all && (++rows > kMostRows || wait.tally.ns < kLeastShown * f.fetch_time)) break;
    table.add({place_of(wait), escaped(in_words(wait.call)),
               wait.op.outside() ? std::string("-") : escaped(wait.op.name), human_count(wait.tally.count),
               human_time(wait.tally.ns), human_time(wait.tally.longest),
               percent_or_dash(percent_of(wait.tally.ns, f.fetch_time))});
  }
  return table.empty() ? std::string() : table.text(terminal);
}

}  // namespace lotus::analyzer
