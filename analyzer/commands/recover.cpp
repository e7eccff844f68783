// `recover`: makes a complete trace from the readable parts of a damaged one.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "care/recover/account.hpp"
#include "commands/command.hpp"
#include "commands/trace_copy.hpp"
#include "reading/input/growing.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

struct RecoverOptions {
  std::string trace;
  std::string output;
  bool json = false;
  bool force = false;
};

void refuse_growing(const std::string& path) {
  wait_until_closed(path);
  if (is_being_written(path))
    throw Unusable(fmt::format("{}: a collector is still writing it; wait for its end, or read it as it is",
                               escaped(path)));
}

std::string recovered_path(const std::string& trace) {
  fs::path path(trace);
  const std::string suffix = path.extension() == kTraceSuffix ? path.extension().string() : std::string();
  path.replace_extension();
  return path.string() + ".recovered" + (suffix.empty() ? kTraceSuffix : suffix);
}

void recover(const RecoverOptions& options) {
  const std::string output = options.output.empty() ? recovered_path(options.trace) : options.output;
  refuse_onto_itself(options.trace, output, "recovered");
  refuse_growing(options.trace);
  const Source source(options.trace);
  const Contents contents(source);
  Output out = Output::of_owner(output, options.force);
  const Rebuilt rebuilt = write_recovered(source, contents, out);
  out.close();
  const auto account = account_json(source, output, contents, rebuilt);
  tell_of_copy(output, options.json ? json_text(account) : account_text(account));
}

}  // namespace

Run prepare_recover(CLI::App& app) {
  const auto options = std::make_shared<RecoverOptions>();
  app.add_option("TRACE", options->trace,
                 "the damaged trace; it is left as it is; none: the newest *.lotus in the working directory");
  app.add_option("-o,--output", options->output,
                 "file to write; -: standard output; default: TRACE's name with .recovered.lotus at its end");
  app.add_flag("--json", options->json, "print what was lost as JSON");
  app.add_flag("--force", options->force, "replace the file if it exists");
  return [options] {
    if (options->trace.empty()) options->trace = chosen_traces({}).front();
    recover(*options);
  };
}

}  // namespace lotus::analyzer
