// Failures of the environment: outputs that cannot be written, full disks, files that vanish.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "support/collector_run.hpp"
#include "support/segment_writer.hpp"
#include "support/temporary.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

SegmentPlan plan_for(const TemporaryDirectory& segments, const std::string& output) {
  SegmentPlan plan;
  plan.directory = segments.path();
  plan.output = output;
  return plan;
}

void record_all(const SegmentPlan& plan, std::uint64_t n) {
  SegmentWriter segment(plan);
  ThreadWriter thread(segment, 0, 1);
  for (std::uint64_t i = 1; i <= n; ++i) thread.record(i);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Serial numbers that hardly compress, so that records fill a disk.
std::uint64_t noise(std::uint64_t i) { return i * 0x9e3779b97f4a7c15; }

// A small file system; not mounted if mounting is not permitted.
class SmallDisk {
 public:
  SmallDisk() : mounted_(mount("tmpfs", place_.path().c_str(), "tmpfs", 0, "size=256k") == 0) {}
  ~SmallDisk() {
    if (mounted_) umount2(place_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  std::string operator/(std::string_view name) const { return place_ / name; }

 private:
  TemporaryDirectory place_;
  bool mounted_;
};

}  // namespace

TEST_CASE("a trace whose directory is missing waits for it") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  const std::string output = outputs / "later/x.lotus";
  SegmentWriter segment(plan_for(segments, output));
  ThreadWriter thread(segment, 0, 1);
  for (std::uint64_t i = 1; i <= 100; ++i) thread.record(i);
  thread.flush();
  CollectorProgram collector({"--dir", segments.path()}, outputs / "log");
  REQUIRE(
      eventually([&] { return has(read_text(outputs / "log"), output + ": No such file or directory"); }));
  CHECK(segment.ring(kEventRing).tail == 0);
  std::filesystem::create_directory(outputs / "later");
  CHECK(eventually([&] { return segment.ring(kEventRing).tail != 0; }));
  collector.signal(SIGTERM);
  CHECK(collector.wait().code == 0);
  CHECK(what_is_wrong(read_trace(output)) == "");
  CHECK(read_trace(output).trailer().events == 100);
}

TEST_CASE("a trace that could never be written goes to the temporary directory") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  const TemporaryDirectory fallback;
  wait_for(in_child([&] { record_all(plan_for(segments, "/nonexistent/x.lotus"), 100); }));
  CollectorProgram collector({"--autostart", "--dir", segments.path()}, outputs / "log",
                             {"TMPDIR=" + fallback.path(), "LOTUS_LOG=" + (outputs / "told")});
  CHECK(collector.wait().code == 0);
  CHECK(has(read_text(outputs / "told"),
            "/nonexistent/x.lotus could not be written: the trace is " + (fallback / "x.lotus")));
  CHECK(what_is_wrong(read_trace(fallback / "x.lotus")) == "");
}

TEST_CASE("where nothing can be written the segments stay, and can be drained later") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  const std::string output = outputs / "later/x.lotus";
  wait_for(in_child([&] { record_all(plan_for(segments, output), 100); }));
  const Outcome failed = drain(segments.path(), "/nonexistent");
  CHECK(failed.code == 1);
  CHECK(has(failed.said, output + ": No such file or directory; make that directory, or set LOTUS_OUTPUT"));
  CHECK(has(failed.said, "lotus-collector --drain"));
  std::filesystem::create_directory(outputs / "later");
  CHECK(drain(segments.path()).code == 0);
  CHECK(what_is_wrong(read_trace(output)) == "");
  CHECK(read_trace(output).trailer().events == 100);
}

TEST_CASE("a full disk costs nothing that was written, and nothing that waits") {
  const SmallDisk disk;
  if (!disk.mounted()) {
    MESSAGE("skipped: mounting a tmpfs is not permitted here: " << std::strerror(errno));
    return;
  }
  const TemporaryDirectory segments;
  const TemporaryDirectory logs;
  const std::string output = disk / "x.lotus";
  const std::string ballast = disk / "ballast";
  write_text(ballast, std::string(150'000, 'x'));
  SegmentWriter segment(plan_for(segments, output));
  ThreadWriter thread(segment, 0, 1);
  CollectorProgram collector({"--dir", segments.path()}, logs / "log");
  std::uint64_t n = 0;
  const auto wait_with_full_ring = [&] {
    return segment.ring(kEventRing).head - segment.ring(kEventRing).tail > (48u << 10);
  };
  for (int quiet = 0; quiet < 400;) {
    if (!wait_with_full_ring()) {
      thread.record(noise(++n));
      quiet = 0;
    } else {
      ++quiet;
      sleep_ms(5);
    }
  }
  CHECK(has(read_text(logs / "log"), output + ": No space left on device; free some space there"));
  CHECK(read_trace(output).problem == "");
  REQUIRE(unlink(ballast.c_str()) == 0);
  for (int i = 0; i < 100; ++i) thread.record(noise(++n));
  thread.flush();
  CHECK(eventually([&] { return segment.ring(kEventRing).tail == segment.ring(kEventRing).head; }));
  collector.signal(SIGTERM);
  CHECK(collector.wait().code == 0);
  const Trace trace = read_trace(output);
  CHECK(what_is_wrong(trace) == "");
  const auto serials = trace.serials().begin()->second;
  REQUIRE(serials.size() == n);
  for (std::uint64_t i = 1; i <= n; ++i) REQUIRE(serials[i - 1] == noise(i));
}

TEST_CASE("a disk without any room makes the trace go elsewhere and leaves no empty file") {
  const SmallDisk disk;
  if (!disk.mounted()) {
    MESSAGE("skipped: mounting a tmpfs is not permitted here: " << std::strerror(errno));
    return;
  }
  {
    std::ofstream ballast(disk / "ballast", std::ios::binary);
    while (ballast.write("xxxxxxxx", 8).flush()) continue;
  }
  const TemporaryDirectory segments;
  const TemporaryDirectory fallback;
  wait_for(in_child([&] { record_all(plan_for(segments, disk / "x.lotus"), 100); }));
  const Outcome outcome = drain(segments.path(), fallback.path());
  CHECK(outcome.code == 0);
  CHECK(has(outcome.said, "No space left on device"));
  CHECK_FALSE(exists(disk / "x.lotus"));
  CHECK(what_is_wrong(read_trace(fallback / "x.lotus")) == "");
}

TEST_CASE("a limit of file sizes is an error like others, not a signal") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  const std::string output = outputs / "x.lotus";
  wait_for(in_child([&] {
    SegmentPlan plan = plan_for(segments, output);
    SegmentWriter segment(plan);
    ThreadWriter thread(segment, 0, 1);
    for (std::uint64_t i = 1; i <= 2000; ++i) thread.record(noise(i));
  }));
  const rlimit small{4096, RLIM_INFINITY};
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  setrlimit(RLIMIT_FSIZE, &small);
  signal(SIGXFSZ, SIG_IGN);
  const Outcome outcome = drain(segments.path(), "/nonexistent");
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(outcome.code == 1);
  CHECK(has(outcome.said, output + ": File too large; raise the limit"));
  CHECK(drain(segments.path()).code == 0);
  CHECK(what_is_wrong(read_trace(output)) == "");
  CHECK(read_trace(output).trailer().events == 2000);
}

TEST_CASE("a segment that is truncated while it is mapped costs only itself") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  CollectorProgram collector({"--dir", segments.path()}, outputs / "log");
  const pid_t program = in_child([&] {
    SegmentWriter segment(plan_for(segments, outputs / "x.lotus"));
    ThreadWriter thread(segment, 0, 1);
    for (std::uint64_t i = 1; i <= 100; ++i) thread.record(i);
    thread.flush();
    if (!eventually([&] { return segment.ring(kEventRing).tail != 0; })) leave_child(1);
    if (truncate(segment.path().c_str(), 0) != 0) leave_child(2);
    sleep_ms(300);
  });
  CHECK(wait_for(program) == 0);
  REQUIRE(eventually([&] { return read_trace(outputs / "x.lotus").closed(); }));
  const Trace trace = read_trace(outputs / "x.lotus");
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().events == 100);
  CHECK(has(read_text(outputs / "log"), "was truncated while it was read"));
  CHECK(collector.running());
}

TEST_CASE("a trace that is deleted while it is written is said to be gone") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  const std::string output = outputs / "x.lotus";
  SegmentWriter segment(plan_for(segments, output));
  ThreadWriter thread(segment, 0, 1);
  thread.record(1);
  thread.flush();
  CollectorProgram collector({"--dir", segments.path()}, outputs / "log");
  REQUIRE(eventually([&] { return segment.ring(kEventRing).tail != 0; }));
  REQUIRE(unlink(output.c_str()) == 0);
  collector.signal(SIGTERM);
  const Outcome outcome = collector.wait();
  CHECK(outcome.code == 0);
  CHECK(has(outcome.said, output + " was deleted while it was being written: its 1 events are gone"));
}

TEST_CASE("a directory that is deleted and made again is followed") {
  const TemporaryDirectory place;
  const TemporaryDirectory outputs;
  const std::string directory = place / "segments";
  CollectorProgram collector({"--dir", directory}, outputs / "log");
  REQUIRE(eventually([&] { return exists(directory + "/" + kCollectorLock); }));
  std::error_code not_empty;  // the collector may have made its lock anew meanwhile
  do std::filesystem::remove_all(directory, not_empty);
  while (exists(directory));
  sleep_ms(50);
  REQUIRE(mkdir(directory.c_str(), S_IRWXU) == 0);  // at once with its mode: others are refused
  SegmentPlan plan;
  plan.directory = directory;
  plan.output = outputs / "x.lotus";
  wait_for(in_child([&] { record_all(plan, 100); }));
  CHECK(eventually([&] { return read_trace(outputs / "x.lotus").closed(); }));
  CHECK(what_is_wrong(read_trace(outputs / "x.lotus")) == "");
  CHECK(exists(directory + "/" + kCollectorLock));
}

TEST_CASE("a lock file that is deleted is taken anew") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  CollectorProgram collector({"--dir", segments.path()}, outputs / "log");
  const std::string lock = segments / kCollectorLock;
  REQUIRE(eventually([&] { return exists(lock); }));
  REQUIRE(unlink(lock.c_str()) == 0);
  CHECK(eventually([&] { return read_text(lock) == collector.lock_line(); }));
  CHECK(collector.running());
}

TEST_CASE("a diagnostics file that cannot be opened is said and does not stop the work") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  wait_for(in_child([&] { record_all(plan_for(segments, outputs / "x.lotus"), 10); }));
  CollectorProgram collector({"--drain", "--dir", segments.path()}, outputs / "log",
                             {"LOTUS_LOG=/nonexistent/log"});
  const Outcome outcome = collector.wait();
  CHECK(outcome.code == 0);
  CHECK(has(outcome.said, "LOTUS_LOG=/nonexistent/log: No such file or directory"));
  CHECK(has(outcome.said, "10 events from 1 process"));
}
