// The command line, the environment, and the exit codes.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/collector_run.hpp"
#include "support/segment_writer.hpp"
#include "support/temporary.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Outcome run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
  const TemporaryDirectory place;
  return CollectorProgram(arguments, place / "log", environment).wait();
}

}  // namespace

TEST_CASE("help and version") {
  const Outcome help = run({"--help"});
  CHECK(help.code == 0);
  for (const char* word :
       {"--drain", "--autostart", "--dir", "--quiet", "LOTUS_DIR", "LOTUS_LOG", "Exit codes"})
    CHECK(has(help.said, word));
  const Outcome version = run({"--version"});
  CHECK(version.code == 0);
  CHECK(has(version.said, "lotus-collector 0."));
}

TEST_CASE("wrong usage exits with 2 and says what") {
  for (const auto& arguments :
       {std::vector<std::string>{"--frobnicate"}, {"file"}, {"--dir"}, {"--drain", "--autostart"}}) {
    const Outcome outcome = run(arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.said.starts_with("lotus-collector: "));
  }
}

TEST_CASE("draining nothing is done at once") {
  const TemporaryDirectory place;
  const Outcome absent = run({"--drain", "--dir", place / "absent"});
  CHECK(absent.code == 0);
  CHECK(absent.said == "lotus-collector: no segments in " + (place / "absent") + "\n");
  CHECK_FALSE(exists(place / "absent"));
  CHECK(run({"--drain", "--quiet", "--dir", place.path()}).said.empty());
}

TEST_CASE("LOTUS_DIR names the directory, --dir overrides it, and by hand it is made") {
  const TemporaryDirectory place;
  const std::string named = place / "named";
  const std::string chosen = place / "chosen";
  for (const auto& [arguments, directory] :
       {std::pair{std::vector<std::string>{}, named}, {{"--dir", chosen}, chosen}}) {
    CollectorProgram collector(arguments, place / "log", {"LOTUS_DIR=" + named});
    CHECK(eventually([&, where = directory] { return exists(where + "/" + kCollectorLock); }));
    struct stat status {};
    REQUIRE(stat(directory.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    collector.signal(SIGTERM);
    CHECK(collector.wait().code == 0);
    REQUIRE(unlink((directory + "/" + kCollectorLock).c_str()) == 0);
    REQUIRE(rmdir(directory.c_str()) == 0);
  }
}

TEST_CASE("without LOTUS_DIR every directory that a traced process may use is served") {
  const TemporaryDirectory place;
  const std::string runtime = place / "lotus";
  const std::string temporary = place / ("lotus-" + std::to_string(geteuid()));
  REQUIRE(mkdir(runtime.c_str(), 0700) == 0);
  REQUIRE(mkdir(temporary.c_str(), 0700) == 0);
  SegmentPlan plan;
  for (const std::string& directory : {runtime, temporary}) {
    plan.directory = directory;
    plan.output = directory + ".out";
    std::tie(plan.pid, plan.start_time) = dead_process();
    SegmentWriter segment(plan);
    ThreadWriter(segment, 0, 1).record(1);
  }
  const Outcome outcome = run({"--drain"}, {"XDG_RUNTIME_DIR=" + place.path(), "TMPDIR=" + place.path(),
                                            "LOTUS_LOG=" + (place / "log")});
  CHECK(outcome.code == 0);
  for (const std::string& directory : {runtime, temporary})
    CHECK(what_is_wrong(read_trace(directory + ".out")) == "");
}

TEST_CASE("relative paths without a working directory are refused") {
  for (const char* setting : {"LOTUS_DIR=segments", "LOTUS_LOG=log"}) {
    const TemporaryDirectory place;
    const std::string gone = place / "gone";
    const std::string log = place / "log";
    const pid_t child = in_child([&] {
      if (mkdir(gone.c_str(), 0700) != 0 || chdir(gone.c_str()) != 0 || rmdir(gone.c_str()) != 0) _exit(99);
      _exit(CollectorProgram({"--drain"}, log, {setting}).wait().code);
    });
    CHECK(wait_for(child) == 1);
    CHECK(has(read_text(log), "the working directory cannot be told"));
  }
}

TEST_CASE("a pipe that nobody reads is no file for diagnostics") {
  const TemporaryDirectory place;
  const std::string pipe = place / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CollectorProgram collector({"--drain", "--dir", place / "absent"}, place / "log", {"LOTUS_LOG=" + pipe});
  CHECK(eventually([&] { return !collector.running(); }));
  CHECK(has(read_text(place / "log"), "LOTUS_LOG=" + pipe + ": a pipe that nobody reads"));
}

TEST_CASE("--quiet leaves only errors") {
  const TemporaryDirectory place;
  SegmentPlan plan;
  plan.directory = place.path();
  plan.output = place / "x.lotus";
  std::tie(plan.pid, plan.start_time) = dead_process();
  { SegmentWriter segment(plan); }
  write_text(place / "1-1.segment", "");
  const Outcome outcome = run({"--drain", "--quiet", "--dir", place.path()});
  CHECK(outcome.code == 0);
  CHECK(has(outcome.said, "1-1.segment is no usable segment (mode 0644)"));
  CHECK_FALSE(has(outcome.said, "x.lotus"));
}
