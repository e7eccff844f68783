// `redact`: a copy of a trace without private names, to give to others.
#include <fmt/format.h>

#include <filesystem>

#include "care/redact/redactor.hpp"
#include "commands/command.hpp"
#include "commands/trace_copy.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

struct RedactOptions {
  std::string trace;
  std::string output;
  std::string key;
  bool force = false;
};

std::string redacted_path(const std::string& trace) {
  std::filesystem::path path(trace);
  if (path.extension() == kTraceSuffix) path.replace_extension();
  return path.string() + ".redacted" + kTraceSuffix;
}

void redact(const RedactOptions& options) {
  const std::string output = options.output.empty() ? redacted_path(options.trace) : options.output;
  refuse_onto_itself(options.trace, output, "redacted");
  const Trace trace(options.trace);
  Hasher hasher(read_key(options.key));
  Output out(output, options.force);
  const Redacted done = Redactor(trace, hasher, out).run();
  out.close();
  std::string text = fmt::format(
      "{}: {} events; hashes stand for paths, command lines, program, thread and host names; names of "
      "operations, functions and libraries, times and pids are as they were\n",
      escaped(output), human_count(done.events));
  if (done.dropped_frames > 0)
    text +=
        fmt::format("  left out: {} frames ({}) that are damaged or not understood\n",
                    human_count(done.dropped_frames), human_bytes(static_cast<double>(done.dropped_bytes)));
  tell_of_copy(output, text);
}

}  // namespace

Run prepare_redact(CLI::App& app) {
  const auto options = std::make_shared<RedactOptions>();
  app.add_option("TRACE", options->trace, "the trace to copy")->required();
  app.add_option("-o,--output", options->output,
                 "file to write; -: standard output; default: TRACE's name with .redacted.lotus at its end");
  app.add_option("--key", options->key,
                 "file with the key of the hashes; default: your own key, made at the first use");
  app.add_flag("--force", options->force, "replace the file if it exists");
  return [options] { redact(*options); };
}

}  // namespace lotus::analyzer
