// lotus-collector --status: shows the current state and changes nothing.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "status.hpp"
#include "support/collector_run.hpp"
#include "support/segment_writer.hpp"
#include "support/temporary.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Place {
  TemporaryDirectory segments;
  TemporaryDirectory outputs;
  std::string output = outputs / "x.lotus";
  std::string log = outputs / "log";

  Outcome status(bool json = false) const {
    std::vector<std::string> arguments{"--status", "--dir", segments.path()};
    if (json) arguments.emplace_back("--json");
    const std::string said = outputs / "status";
    unlink(said.c_str());
    return CollectorProgram(arguments, said).wait();
  }
  SegmentPlan plan() const {
    SegmentPlan made;
    made.directory = segments.path();
    made.output = output;
    return made;
  }
};

}  // namespace

TEST_CASE("lines become the status that they came from") {
  collector::Status status;
  status.now_ns = 17;
  status.ended = 3;
  status.sessions.push_back(
      {1, 2, 3, 4, 5, 6, 7, 8, 9, "/with spaces/and\nline.lotus", {{10, 11, 12, true}}});
  status.sessions.push_back({21, 0, 0, 0, 0, 0, 0, 0, 0, "/y.lotus", {}});
  status.closed.push_back({100, 1, "/z.lotus"});
  const auto read = collector::from_lines(collector::to_lines(status));
  REQUIRE(read);
  CHECK(collector::to_lines(*read) == collector::to_lines(status));
  CHECK(read->sessions[0].path == "/with spaces/and\\x0aline.lotus");
  CHECK(read->sessions[0].processes[0].fill_percent == 12);
  for (const char* bad :
       {"", "served\n", "served 1 x\n", "session 1 2 3\n", "served 1 2\nprocess 1 2 3 0\n",
        "served 1 2\nnews 3\n", "served 1 2\nsession 1 2 3 4 5 6 7 8 99999999999999999999 /x\n"})
    CHECK_FALSE(collector::from_lines(bad));
}

TEST_CASE("nobody serves: exit code 3, and nothing is made") {
  const Place place;
  const Outcome outcome = place.status();
  CHECK(outcome.code == 3);
  CHECK(outcome.said == place.segments.path() + ": nobody serves\n");
  CHECK(list(place.segments.path()).empty());
  CHECK(
      has(place.status(true).said, R"("exists":true,"problem":null,"served":false,"pid":null,"segments":0)"));
  const std::string absent = place.outputs / "absent";
  CollectorProgram collector({"--status", "--dir", absent}, place.log);
  CHECK(collector.wait().code == 3);
  CHECK_FALSE(exists(absent));
}

TEST_CASE("a path of any bytes is told as JSON") {
  const Place place;
  const std::string odd = place.outputs / "\xff\n\"";
  const std::string said = CollectorProgram({"--status", "--json", "--dir", odd}, place.log).wait().said;
  CHECK(has(said, "/\xef\xbf\xbd\\n\\\"\",\"exists\":false,\"problem\":null"));
}

TEST_CASE("segments that wait are counted") {
  const Place place;
  wait_for(in_child([&] {
    SegmentWriter segment(place.plan());
    ThreadWriter(segment, 0, 1).record(1);
  }));
  const Outcome outcome = place.status();
  CHECK(outcome.code == 3);
  CHECK(
      has(outcome.said, "nobody serves; 1 segment is there (lotus-collector --drain writes what they hold)"));
}

TEST_CASE("a program that is traced, its losses, and what became of it") {
  const Place place;
  CollectorProgram collector({"--dir", place.segments.path()}, place.log);
  {
    SegmentWriter segment(place.plan());
    ThreadWriter thread(segment, 0, 1);
    for (std::uint64_t i = 1; i <= 100; ++i) thread.record(i);
    thread.flush();
    __atomic_store_n(&segment.header().lost_events, 7, __ATOMIC_RELEASE);
    REQUIRE(eventually([&] { return has(place.status().said, "100 events, "); }));
    const Outcome running = place.status();
    CHECK(running.code == 0);
    CHECK(has(running.said, place.segments.path() + ": served by pid " + std::to_string(collector.pid())));
    CHECK(has(running.said, place.output + ": 1 of 1 process running, 100 events, "));
    CHECK(has(running.said, "7 lost, 0 salvaged"));
    CHECK(has(running.said, "pid " + std::to_string(getpid()) + ": 7 lost, memory 0 % full"));
    const std::string json = place.status(true).said;
    CHECK(has(json, R"("events":100,)"));
    CHECK(has(json, R"("file":")" + place.output + R"(")"));
    unlink(segment.path().c_str());
  }
  const pid_t child = in_child([&] {
    SegmentPlan plan = place.plan();
    plan.output = place.outputs / "y.lotus";
    SegmentWriter segment(plan);
    ThreadWriter thread(segment, 0, 1);
    for (std::uint64_t i = 1; i <= 5; ++i) thread.record(i);
  });
  CHECK(wait_for(child) == 0);
  CHECK(eventually(
      [&] { return has(place.status().said, (place.outputs / "y.lotus") + ": 5 events, 0 lost"); }));
  CHECK(has(place.status().said, "1 trace closed so far"));
}

TEST_CASE("a collector that is stopped is said to be silent") {
  const Place place;
  CollectorProgram collector({"--dir", place.segments.path()}, place.log);
  SegmentWriter segment(place.plan());
  ThreadWriter thread(segment, 0, 1);
  thread.record(1);
  REQUIRE(eventually([&] { return has(place.status().said, "1 of 1 process running"); }));
  collector.signal(SIGSTOP);
  CHECK(eventually([&] { return has(place.status().said, "has said nothing for "); }));
  collector.signal(SIGCONT);
  CHECK(eventually([&] { return !has(place.status().said, "has said nothing for "); }));
}

TEST_CASE("a lock file with anything behind the pid breaks nothing") {
  const Place place;
  CollectorProgram collector({"--dir", place.segments.path()}, place.log);
  const std::string lock = place.segments / kCollectorLock;
  REQUIRE(eventually([&] { return read_text(lock) == collector.lock_line(); }));
  for (const std::string text : {"", "\n\n\n", "1\n5 00000000\nserved", "99999999999999\n0 811c9dc5\n",
                                 "1\n10 00000000\nserved 1 2\nsession\n"}) {
    write_text(lock, text);
    CHECK(has(place.status().said, "served by pid"));
  }
  write_text(lock, std::string(5'000'000, '\n'));
  CHECK(has(place.status().said, "served by pid"));
}

TEST_CASE("the one who is told to serve a directory that is not there says that it made it") {
  const Place place;
  const std::string typo = place.outputs / "typo";
  CollectorProgram collector({"--dir", typo}, place.log);
  CHECK(eventually([&] { return has(read_text(place.log), "made " + typo + ", which was not there"); }));
}
