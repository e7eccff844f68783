// Files, links and directories that an attacker put in the place of segments and their directories.
#include <doctest/doctest.h>
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

// Makes a valid segment of a dead process in `directory`; returns its path.
std::string make_segment(const std::string& directory, const std::string& output) {
  SegmentPlan plan;
  plan.directory = directory;
  plan.output = output;
  std::tie(plan.pid, plan.start_time) = dead_process();
  SegmentWriter segment(plan);
  ThreadWriter thread(segment, 0, 1);
  thread.record(1);
  return segment.path();
}

struct Place {
  TemporaryDirectory segments;
  TemporaryDirectory elsewhere;
  std::string output = elsewhere / "x.lotus";
};

// Drains, and checks that the planted file is left in place, named in one line and has no effect.
void check_refused(const Place& place, const std::string& planted, const std::string& why) {
  const Outcome outcome = drain(place.segments.path());
  CHECK(outcome.code == 0);
  CHECK(has(outcome.said, planted + " is no usable segment (" + why));
  CHECK(exists(planted));
  CHECK_FALSE(exists(place.output));
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

TEST_CASE("a symlink is not followed") {
  const Place place;
  const std::string real = make_segment(place.elsewhere.path(), place.output);
  const std::string planted = place.segments / base_name(real);
  REQUIRE(symlink(real.c_str(), planted.c_str()) == 0);
  check_refused(place, planted, "not a plain file");
  CHECK(exists(real));
}

TEST_CASE("a file with another hard link is not touched") {
  const Place place;
  const std::string planted = make_segment(place.segments.path(), place.output);
  REQUIRE(link(planted.c_str(), (place.elsewhere / "link").c_str()) == 0);
  check_refused(place, planted, "2 links");
}

TEST_CASE("a file that others may read or write is not touched, until that is set right") {
  const Place place;
  const std::string planted = make_segment(place.segments.path(), place.output);
  for (const mode_t mode : {0644u, 0660u, 0602u, 0700u, 04600u}) {
    CAPTURE(mode);
    REQUIRE(chmod(planted.c_str(), mode) == 0);
    check_refused(place, planted, "mode ");
  }
  REQUIRE(chmod(planted.c_str(), 0600) == 0);
  CHECK(drain(place.segments.path()).code == 0);
  CHECK(what_is_wrong(read_trace(place.output)) == "");
}

TEST_CASE("a file of another user is not touched") {
  const Place place;
  const std::string planted = make_segment(place.segments.path(), place.output);
  if (chown(planted.c_str(), 12345, 12345) != 0) {
    MESSAGE("skipped: giving files away is not permitted here");
    return;
  }
  check_refused(place, planted, "owned by user 12345");
}

TEST_CASE("directories, pipes and huge files under a segment's name are not touched") {
  const Place place;
  const std::string directory = place.segments / "4242-1.segment";
  REQUIRE(mkdir(directory.c_str(), 0600) == 0);
  const std::string pipe = place.segments / "4242-2.segment";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string huge = place.segments / "4242-3.segment";
  write_text(huge, "");
  REQUIRE(chmod(huge.c_str(), 0600) == 0);
  REQUIRE(truncate(huge.c_str(), off_t{1} << 40) == 0);
  const Outcome outcome = drain(place.segments.path());
  CHECK(outcome.code == 0);
  for (const std::string& planted : {directory, pipe, huge}) {
    CHECK(exists(planted));
    CHECK(has(outcome.said, planted));
  }
}

TEST_CASE("a directory under a segment's name keeps no collector from its end") {
  const Place place;
  REQUIRE(mkdir((place.segments / "4242-1.segment").c_str(), 0700) == 0);
  CollectorProgram collector({"--autostart", "--dir", place.segments.path()}, place.elsewhere / "log");
  CHECK(eventually([&] { return !collector.running(); }));
}

TEST_CASE("other files are no segments") {
  const Place place;
  for (const char* name : {"notes.txt", "1-2.segment.old", "x.lotus", "01-2.segment"})
    write_text(place.segments / name, "x");
  const Outcome outcome = drain(place.segments.path());
  CHECK(outcome.said.empty());
  CHECK(list(place.segments.path()).size() == 5);
}

TEST_CASE("a directory of segments must be ours alone") {
  const TemporaryDirectory place;
  const std::string directory = place / "segments";
  const auto refusal = [&](const std::string& path) {
    CollectorProgram collector({"--dir", path}, place / "log");
    const Outcome outcome = collector.wait();
    CHECK(outcome.code == 1);
    unlink((place / "log").c_str());
    return outcome.said;
  };
  REQUIRE(mkdir(directory.c_str(), 0700) == 0);
  REQUIRE(chmod(directory.c_str(), 0755) == 0);
  CHECK(has(refusal(directory), directory + ": its mode is 0755, it must be 0700: chmod 0700 " + directory));
  REQUIRE(chmod(directory.c_str(), 0700) == 0);
  const std::string link = place / "link";
  REQUIRE(symlink(directory.c_str(), link.c_str()) == 0);
  CHECK(has(refusal(link), link + ": not a real directory"));
  write_text(place / "file", "");
  CHECK(has(refusal(place / "file"), "not a real directory"));
  CHECK(has(refusal("/nonexistent/segments"), "no directory for segments can be used"));
  if (chown(directory.c_str(), 12345, 12345) == 0) CHECK(has(refusal(directory), "it belongs to user 12345"));
}

TEST_CASE("a lock file that is a link is not followed") {
  const Place place;
  const std::string target = place.elsewhere / "target";
  write_text(target, "precious");
  REQUIRE(symlink(target.c_str(), (place.segments / kCollectorLock).c_str()) == 0);
  CollectorProgram collector({"--dir", place.segments.path()}, place.elsewhere / "log");
  CHECK(collector.wait().code == 1);
  CHECK(read_text(target) == "precious");
}
