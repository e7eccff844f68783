#include "options.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <lotus/segment_places.hpp>
#include <lotus/version.hpp>
#include <string>
#include <system_error>

#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr const char* kFooter = R"(
Environment:
  LOTUS_DIR   directory of the segments (default: /dev/shm/lotus-UID, else $XDG_RUNTIME_DIR/lotus,
              else ${TMPDIR:-/tmp}/lotus-UID, else $HOME/.lotus)
  LOTUS_LOG   file that diagnostics are appended to (default: standard error)

A LOTUS_DIR or --dir that does not exist is made by a collector that serves it (only the last part of the
path), but not by --drain and --status.

Exit codes: 0 done, also if another collector serves already; 1 failed, with a message that says why;
2 wrong usage; 3 nobody serves (--status).)";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::uint64_t pid_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

// The directories that traced processes use, in their order of preference; all of them may hold segments.
// `chosen`: if not empty, the only one; absolute.
std::vector<std::string> places_of(const std::string& chosen) {
  const std::string runtime = environment("XDG_RUNTIME_DIR");
  const std::string temporary = environment("TMPDIR");
  const std::string home = environment("HOME");
  PlaceSettings settings;
  settings.directory = chosen;
  settings.runtime = runtime;
  settings.temporary = temporary;
  settings.home = home;
  settings.user = geteuid();
  settings.pid_namespace = pid_namespace();
  std::vector<std::string> found;
  char path[kMaxPlaceBytes + 1];
  for (int place = 0; place < kSegmentPlaces; ++place)
    if (segment_place(place, settings, path)) found.emplace_back(path);
  return found;
}

// Makes a path absolute. Prints an error if it is relative and there is no working directory.
bool make_absolute(std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (error) {
    std::fputs(fmt::format("lotus-collector: {}: the working directory cannot be told ({}): give a path that "
                           "begins with /\n",
                           printable(path), error.message())
                   .c_str(),
               stderr);
    return false;
  }
  path = absolute.string();
  return true;
}

// False: the options cannot be used, and an error was printed.
bool add_environment(Options& options, const std::string& directory) {
  std::string chosen = directory.empty() ? environment("LOTUS_DIR") : directory;
  if (!chosen.empty() && !make_absolute(chosen)) return false;
  options.directories = places_of(chosen);
  options.log_file = environment("LOTUS_LOG");
  options.fallback_directory = temporary_directory(environment("TMPDIR"));
  return options.log_file.empty() || make_absolute(options.log_file);
}

}  // namespace

std::variant<Options, ExitCode> parse_options(int argc, const char* const* argv) {
  Options options;
  std::string directory;
  bool autostart = false;
  bool drain = false;
  bool status = false;
  CLI::App app(
      "Collects what traced programs record and writes it to trace files (*.lotus).\n"
      "Without options: serves every traced program of this user until SIGTERM or SIGINT.",
      "lotus-collector");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("lotus-collector ") + version());
  app.add_option("--dir", directory, "Serve only the segments in DIR")->type_name("DIR");
  app.add_flag("--quiet", options.quiet, "Write nothing but errors");
  auto* auto_flag =
      app.add_flag("--autostart", autostart, "End with the last traced process (used by liblotus.so)");
  app.add_flag("--drain", drain, "Write what the segments hold now, then exit")->excludes(auto_flag);
  auto* status_flag =
      app.add_flag("--status", status,
                   "Print the serving collector, the traced programs and what was lost, then exit")
          ->excludes(auto_flag)
          ->excludes("--drain");
  app.add_flag("--json", options.json, "With --status: print JSON")->needs(status_flag);
  auto* encode =
      app.add_option("--encode", options.events,
                     "Print by which numbers the kernel counts events of this processor, by libpfm4's "
                     "names with commas between (type, config and config1 of perf_event_open), then exit")
          ->type_name("EVENTS")
          ->excludes(auto_flag)
          ->excludes("--drain")
          ->excludes(status_flag);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("lotus-collector: {}; --help says more\n", printable(error.what()));
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  if (autostart) options.mode = Mode::autostart;
  if (drain) options.mode = Mode::drain;
  if (status) options.mode = Mode::status;
  if (*encode) options.mode = Mode::encode;
  if (!add_environment(options, directory)) return kFailed;
  return options;
}

}  // namespace lotus::collector
