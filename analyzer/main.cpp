// lotus-analyze: reads traces. Exit codes: 0 done, 1 the trace is unusable, 2 wrong usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "commands/command.hpp"
#include "lotus/version.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace {

using namespace lotus::analyzer;

int complain(const char* what, int code) {
  // Not by fmt: it throws when stderr cannot be written.
  std::fprintf(stderr, "lotus-analyze: %s\n", what);
  return code;
}

int run(const Run& work) {
  try {
    work();
    return 0;
  } catch (const Unusable& error) {
    return complain(error.what(), 1);
  } catch (const WrongUsage& error) {
    return complain(error.what(), 2);
  } catch (const std::bad_alloc&) {
    return complain("out of memory; free some or run it on a larger machine", 1);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}

// Numbers, positions and counts. The library takes "-1" for the largest number there is.
void refuse_negative_counts(CLI::App& command) {
  const CLI::Validator from_zero(
      [](std::string& value) { return value.starts_with('-') ? value + " is less than 0" : std::string(); },
      "");
  for (CLI::Option* option : command.get_options()) {
    const std::string type = option->get_type_name();
    for (const char* const count : {"UINT", "COUNT", "NUMBER", "PID"})
      if (type == count) option->check(from_zero);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Jupyter starts programs with SIGPIPE ignored. A reader that stops early, as head, must not cause an
  // error.
  std::signal(SIGPIPE, SIG_DFL);
  CLI::App app("Reads Lotus traces: where the time of an ML input pipeline goes.", "lotus-analyze");
  app.set_version_flag("--version", std::string("lotus-analyze ") + lotus::version());
  app.require_subcommand(1);
  app.footer("With no TRACE, a command reads the newest *.lotus in the working directory.");
  app.failure_message([](const CLI::App* /*app*/, const CLI::Error& error) {
    return fmt::format("lotus-analyze: {}; --help says more\n", escaped(error.what()));
  });
  Run work;
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.synopsis);
    sub->footer(command.usage);
    sub->final_callback([&work, prepared = command.prepare(*sub)] { work = prepared; });
    refuse_negative_counts(*sub);
  }
  const std::string_view first = argc > 1 ? argv[1] : "-";
  const auto all = commands();
  if (!first.starts_with('-') &&
      std::none_of(all.begin(), all.end(), [&](const Command& c) { return first == c.name; }))
    return complain((escaped(first) + ": no such command; lotus-analyze --help lists them").c_str(), 2);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return run(work);
}
