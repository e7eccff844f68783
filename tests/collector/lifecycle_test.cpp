// The life of the collector's process: started by hand or by a traced process, ended by signals.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "support/collector_run.hpp"
#include "support/segment_writer.hpp"
#include "support/temporary.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

#if defined(LOTUS_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Place {
  TemporaryDirectory segments;
  TemporaryDirectory outputs;
  std::string output = outputs / "x.lotus";
  std::string log = outputs / "log";
  std::vector<std::string> by_hand{"--dir", segments.path()};
  std::vector<std::string> autostart{"--autostart", "--dir", segments.path()};
  std::string lock = segments / kCollectorLock;

  SegmentPlan plan() const {
    SegmentPlan made;
    made.directory = segments.path();
    made.output = output;
    return made;
  }
  // Whether a collector holds the serving lock.
  bool served() const {
    const int fd = open(lock.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool held = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return held;
  }
};

void record_all(const SegmentPlan& plan, std::uint64_t n) {
  SegmentWriter segment(plan);
  ThreadWriter thread(segment, 0, 1);
  for (std::uint64_t i = 1; i <= n; ++i) thread.record(i);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t open_descriptors(pid_t pid) { return list("/proc/" + std::to_string(pid) + "/fd").size(); }

std::uint64_t resident_kb(pid_t pid) {
  const std::string status = read_text("/proc/" + std::to_string(pid) + "/status");
  return std::stoull(status.substr(status.find("VmRSS:") + 6));
}

}  // namespace

TEST_CASE("started by a traced process, it ends with the last one and says nothing") {
  const Place place;
  const pid_t program = in_child([&] {
    record_all(place.plan(), 3000);
    for (int i = 0; i < 3; ++i)
      wait_for(in_child([&] {
        SegmentPlan plan = place.plan();
        plan.session_pid = static_cast<std::uint32_t>(getppid());
        plan.session_start_time = start_time_of(plan.session_pid);
        record_all(plan, 1000);
      }));
  });
  CollectorProgram collector(place.autostart, place.log);
  CHECK(wait_for(program) == 0);
  const Outcome outcome = collector.wait();
  CHECK(outcome.code == 0);
  CHECK(outcome.said.empty());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().processes == 4);
  CHECK(trace.trailer().events == 6000);
  CHECK_FALSE(place.served());
}

TEST_CASE("with LOTUS_LOG, a collector that was started by a traced process tells there") {
  const Place place;
  wait_for(in_child([&] { record_all(place.plan(), 10); }));
  const std::string file = place.outputs / "diagnostics";
  CollectorProgram collector(place.autostart, place.log, {"LOTUS_LOG=" + file});
  CHECK(collector.wait().said.empty());
  CHECK(read_text(file) == "lotus: " + place.output + ": 10 events from 1 process, 0 lost\n");
}

TEST_CASE("by hand it serves one program after the other until SIGTERM") {
  const Place place;
  CollectorProgram collector(place.by_hand, place.log);
  for (int i = 1; i <= 3; ++i) {
    SegmentPlan plan = place.plan();
    plan.output = place.outputs / (std::to_string(i) + ".lotus");
    wait_for(in_child([&] { record_all(plan, 100); }));
    CHECK(eventually([&] { return read_trace(plan.output).closed(); }));
    CHECK(what_is_wrong(read_trace(plan.output)) == "");
  }
  CHECK(collector.running());
  collector.signal(SIGTERM);
  const Outcome outcome = collector.wait();
  CHECK(outcome.code == 0);
  CHECK(has(outcome.said, "/3.lotus: 100 events from 1 process, 0 lost\n"));
}

namespace {

// Makes this process act as the main process of a container, whose end also ends the collector.
struct Waiting {
  explicit Waiting(const Place& place) : plan(place.plan()) {
    plan.session_pid = static_cast<std::uint32_t>(getpid());
    plan.session_start_time = start_time_of(plan.session_pid);
    segment = std::make_unique<SegmentWriter>(plan);
    ThreadWriter(*segment, 0, 1).record(1);
    CHECK(eventually([&] { return segment->header().reader_pid != 0; }));
  }
  pid_t worker(useconds_t lives_us) const {
    return in_child([&] {
      record_all(plan, 1000);
      usleep(lives_us);
    });
  }
  void wait() const {
    segment->header().finished = 1;
    while (exists(segment->path())) usleep(1000);
  }
  SegmentPlan plan;
  std::unique_ptr<SegmentWriter> segment;
};

}  // namespace

TEST_CASE("who waits for its segment's removal finds the trace written, also where others end after it") {
  const Place place;
  CollectorProgram collector(place.autostart, place.log);
  const Waiting first(place);
  const pid_t workers[] = {first.worker(50'000), first.worker(250'000)};
  first.wait();
  const Trace trace = read_trace(place.output);
  CHECK(trace.closed());
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().processes == 3);
  for (const pid_t worker : workers) CHECK(wait_for(worker) == 0);
  CHECK(collector.wait().code == 0);
  CHECK(list(place.segments.path()) == std::vector<std::string>{kCollectorLock});
}

TEST_CASE("who waits for its segment's removal does not wait for those that live on") {
  const Place place;
  CollectorProgram collector(place.autostart, place.log);
  const Waiting first(place);
  const pid_t worker = first.worker(3'000'000);
  first.wait();
  CHECK(waitpid(worker, nullptr, WNOHANG) == 0);
  CHECK(wait_for(worker) == 0);
  CHECK(collector.wait().code == 0);
  const Trace trace = read_trace(place.output);
  CHECK(trace.closed());
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().processes == 2);
  CHECK(trace.trailer().events == 1001);
}

TEST_CASE("SIGINT and SIGTERM close the trace of a program that still runs") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(number);
    const Place place;
    SegmentWriter segment(place.plan());
    ThreadWriter thread(segment, 0, 1);
    CollectorProgram collector(place.by_hand, place.log);
    for (std::uint64_t i = 1; i <= 5000; ++i) thread.record(i);
    thread.flush();
    REQUIRE(eventually([&] { return segment.header().reader_pid != 0; }));
    collector.signal(number);
    CHECK(collector.wait().code == 0);
    const Trace trace = read_trace(place.output);
    CHECK(what_is_wrong(trace) == "");
    CHECK(trace.trailer().interrupted == 1);
    CHECK(trace.trailer().events == 5000);
    CHECK(exists(segment.path()));
  }
}

TEST_CASE("a file that grows holds whole frames, and half of one only while that is written") {
  const Place place;
  const std::string enough = place.outputs / "enough";
  CollectorProgram collector(place.by_hand, place.log);
  const pid_t program = in_child([&] {
    SegmentWriter segment(place.plan());
    ThreadWriter thread(segment, 0, 1);
    for (std::uint64_t i = 1; i % 4096 != 0 || !exists(enough); ++i) thread.record(i);
  });
  REQUIRE(eventually([&] { return exists(place.output) && !read_text(place.output).empty(); }));
  std::size_t last = 0;
  for (int growths = 0; growths < 5 && collector.running();) {
    // A write becomes visible page by page: a concurrent reader may see only the start of the last frame.
    Trace trace;
    REQUIRE(eventually([&] {
      trace = read_trace(place.output);
      CHECK((trace.problem.empty() || trace.problem.starts_with("half a frame")));
      return trace.problem.empty();
    }));
    CHECK(trace.frames.size() >= last);
    if (trace.frames.size() > last) ++growths;
    last = trace.frames.size();
  }
  CHECK(collector.running());
  write_text(enough, "");
  CHECK(wait_for(program) == 0);
  REQUIRE(eventually([&] { return read_trace(place.output).closed(); }));
  CHECK(what_is_wrong(read_trace(place.output)) == "");
}

TEST_CASE("one collector serves a directory; a second one says so and leaves") {
  const Place place;
  CollectorProgram first(place.by_hand, place.log);
  REQUIRE(eventually([&] { return place.served(); }));
  REQUIRE(eventually([&] { return read_text(place.lock) == first.lock_line(); }));
  CollectorProgram second(place.by_hand, place.outputs / "log2");
  const Outcome refused = second.wait();
  CHECK(refused.code == 0);
  CHECK(refused.said == "lotus-collector: already serving " + place.segments.path() + " (pid " +
                            std::to_string(first.pid()) + ")\n");
  CollectorProgram third(place.autostart, place.outputs / "log3");
  const Outcome silent = third.wait();
  CHECK(silent.code == 0);
  CHECK(silent.said.empty());
  CHECK(first.running());
}

TEST_CASE("of many that start at once, one serves, and nothing is lost or written twice") {
  const Place place;
  const pid_t program = in_child([&] { record_all(place.plan(), 50'000); });
  std::vector<std::unique_ptr<CollectorProgram>> all;
  all.reserve(8);
  for (int i = 0; i < 8; ++i) all.push_back(std::make_unique<CollectorProgram>(place.autostart, place.log));
  CHECK(wait_for(program) == 0);
  for (auto& collector : all) CHECK(collector->wait().code == 0);
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.serials()[{static_cast<std::uint32_t>(program), 1}] == up_to(50'000));
}

// A traced process makes its segment, then checks for a serving collector and starts one if there is none.
// The segment is served even if another collector ends at any point of this sequence.
TEST_CASE("no segment is left unserved when a collector ends") {
  const Place place;
  std::unique_ptr<CollectorProgram> collector;
  for (std::uint32_t i = 0; i < 15; ++i) {
    SegmentPlan plan = place.plan();
    plan.output = place.outputs / (std::to_string(i) + ".lotus");
    const pid_t program = in_child([&] { record_all(plan, 10); });
    wait_for(program);
    if (!place.served()) collector = std::make_unique<CollectorProgram>(place.autostart, place.log);
    CHECK(eventually([&] { return read_trace(plan.output).closed(); }));
    usleep(350'000 + i * 30'000);  // about the time at which the collector ends
  }
}

TEST_CASE("a stopped process is alive") {
  const Place place;
  int gate[2];
  REQUIRE(pipe2(gate, O_CLOEXEC) == 0);
  const pid_t program = in_child([&] {
    SegmentWriter segment(place.plan());
    ThreadWriter thread(segment, 0, 1);
    for (std::uint64_t i = 1; i <= 10; ++i) thread.record(i);
    char byte = 0;
    if (read(gate[0], &byte, 1) != 1) leave_child(1);
    for (std::uint64_t i = 11; i <= 20; ++i) thread.record(i);
  });
  REQUIRE(eventually([&] { return !list(place.segments.path()).empty(); }));
  REQUIRE(kill(program, SIGSTOP) == 0);
  CollectorProgram collector(place.autostart, place.log);
  sleep_ms(1500);
  CHECK(collector.running());
  kill(program, SIGCONT);
  REQUIRE(write(gate[1], "x", 1) == 1);
  CHECK(wait_for(program) == 0);
  CHECK(collector.wait().code == 0);
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().events == 20);
  close(gate[0]);
  close(gate[1]);
}

TEST_CASE("processes that end in every way leave what they recorded") {
  const Place place;
  CollectorProgram collector(place.by_hand, place.log);
  const auto recorder = [&](auto end) {
    return in_child([&] {
      SegmentPlan plan = place.plan();
      plan.session_pid = 1;
      plan.session_start_time = 1;
      SegmentWriter segment(plan);
      ThreadWriter thread(segment, 0, 1);
      for (std::uint64_t i = 1; i <= 777; ++i) thread.record(i);
      end();
    });
  };
  std::vector<pid_t> pids{recorder([] {}), recorder([] { kill(getpid(), SIGKILL); }),
                          recorder([] { leave_child(4); }), recorder([] {
                            signal(SIGSEGV, SIG_DFL);
                            raise(SIGSEGV);
                          })};
  for (const pid_t pid : pids) wait_for(pid);
  REQUIRE(eventually([&] { return read_trace(place.output).closed(); }));
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.count(FrameType::process_end) == pids.size());
  for (const pid_t pid : pids) CHECK(trace.serials()[{static_cast<std::uint32_t>(pid), 1}] == up_to(777));
}

TEST_CASE("a thousand short processes: every record, no descriptor and no memory left over") {
  const Place place;
  CollectorProgram collector(place.by_hand, place.log);
  REQUIRE(eventually([&] { return place.served(); }));
  const auto batch = [&](int count) {
    std::vector<pid_t> pids;
    pids.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      pids.push_back(in_child([&] {
        SegmentPlan plan = place.plan();
        plan.session_pid = 1;
        plan.session_start_time = 1;
        record_all(plan, 50);
      }));
    for (const pid_t pid : pids) CHECK(wait_for(pid) == 0);
    CHECK(eventually([&] { return list(place.segments.path()).size() <= 2; }));
  };
  for (int i = 0; i < 10; ++i) batch(20);
  const std::size_t descriptors = open_descriptors(collector.pid());
  const std::uint64_t memory = resident_kb(collector.pid());
  for (int i = 0; i < 40; ++i) batch(20);
  CHECK(open_descriptors(collector.pid()) <= descriptors + 1);
  // A sanitizer does not reuse freed memory at once; in such builds LeakSanitizer finds leaks at the end.
  if (!kSanitized) CHECK(resident_kb(collector.pid()) < memory + 8192);
  collector.signal(SIGTERM);
  CHECK(collector.wait().code == 0);
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().processes == 1000);
  CHECK(trace.trailer().events == 50'000);
}

TEST_CASE("512 segments at once") {
  const Place place;
  std::vector<pid_t> pids;
  pids.reserve(512);
  int gate[2];
  REQUIRE(pipe2(gate, O_CLOEXEC) == 0);
  for (int i = 0; i < 512; ++i)
    pids.push_back(in_child([&] {
      close(gate[1]);
      SegmentPlan plan = place.plan();
      plan.session_pid = 1;
      plan.session_start_time = 1;
      plan.slots = 1;
      SegmentWriter segment(plan);
      ThreadWriter thread(segment, 0, 1);
      for (std::uint64_t serial = 1; serial <= 20; ++serial) thread.record(serial);
      thread.flush();
      char byte = 0;
      if (read(gate[0], &byte, 1) < 0) leave_child(1);  // blocks until the gate closes
    }));
  REQUIRE(eventually([&] { return list(place.segments.path()).size() == 512; }));
  CollectorProgram collector(place.autostart, place.log);
  CHECK(eventually(
      [&] { return exists(place.output) && read_trace(place.output).count(FrameType::chunk) == 512; }));
  close(gate[1]);
  for (const pid_t pid : pids) CHECK(wait_for(pid) == 0);
  CHECK(collector.wait().code == 0);
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().events == 512 * 20);
  close(gate[0]);
}
