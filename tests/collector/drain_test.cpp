// Segments become a trace: records keep their order, open chunks are salvaged, no record is written twice,
// damage is counted and skipped.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "support/collector_run.hpp"
#include "support/segment_writer.hpp"
#include "support/temporary.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

struct Place {
  TemporaryDirectory segments;
  TemporaryDirectory outputs;
  std::string output = outputs / "x.lotus";

  // A segment of a process that has ended.
  std::unique_ptr<SegmentWriter> dead_segment() const {
    SegmentPlan plan;
    plan.directory = segments.path();
    plan.output = output;
    std::tie(plan.pid, plan.start_time) = dead_process();
    return std::make_unique<SegmentWriter>(plan);
  }
  std::unique_ptr<SegmentWriter> own_segment() const {
    SegmentPlan plan;
    plan.directory = segments.path();
    plan.output = output;
    return std::make_unique<SegmentWriter>(plan);
  }
};

ProcessEndFrame end_of(const Trace& trace) {
  ProcessEndFrame end{};
  for (const Frame& frame : trace.frames)
    if (frame.header.type == FrameType::process_end) std::memcpy(&end, frame.body.data(), sizeof end);
  return end;
}

// The serial numbers of the only thread.
std::vector<std::uint64_t> serials_of(const Trace& trace) {
  const auto all = trace.serials();
  return all.size() == 1 ? all.begin()->second : std::vector<std::uint64_t>{};
}

bool push_chunk(SegmentWriter& segment, std::uint64_t sequence, const std::vector<std::uint8_t>& bytes,
                const RingRecord& like = {}) {
  RingRecord record = like;
  record.kind = RingKind::chunk;
  record.stream = record.stream == 0 ? 1 : record.stream;
  record.sequence = sequence;
  record.stored_bytes = static_cast<std::uint32_t>(bytes.size());
  record.raw_bytes = record.raw_bytes == 0 ? record.stored_bytes : record.raw_bytes;
  return segment.writer(kEventRing).push(record, bytes.data()).payload != nullptr;
}

}  // namespace

TEST_CASE("a dead process's segment becomes a closed trace and is deleted") {
  const Place place;
  auto segment = place.dead_segment();
  segment->header().lost_events = 5;
  ThreadWriter thread(*segment, 0, 1);
  for (std::uint64_t i = 1; i <= 5000; ++i) thread.record(i);
  const Outcome outcome = drain(place.segments.path());
  CHECK(outcome.code == 0);
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(serials_of(trace) == up_to(5000));
  CHECK(trace.trailer().interrupted == 0);
  CHECK(trace.trailer().lost_events == 5);
  CHECK(trace.header.session_pid == segment->header().session_pid);
  CHECK(outcome.said.find(place.output + ": 5000 events from 1 process, 5 lost (") != std::string::npos);
  CHECK_FALSE(exists(segment->path()));
}

TEST_CASE("who left by itself and who was killed is told apart, where the process says it") {
  for (const auto& [life, flags] : {std::pair(Life::unknown, 0), std::pair(Life::running, int{kKilled}),
                                    std::pair(Life::leaving, int{kLeft}), std::pair(Life{77}, 0)}) {
    const Place place;
    place.dead_segment()->header().life = static_cast<std::uint64_t>(life);
    CHECK(drain(place.segments.path()).code == 0);
    const Trace trace = read_trace(place.output);
    REQUIRE(trace.count(FrameType::process_end) == 1);
    for (const Frame& frame : trace.frames)
      if (frame.header.type == FrameType::process_end) CHECK(frame.header.flags == flags);
  }
}

TEST_CASE("a definition stands before the first chunk that may use it") {
  const Place place;
  auto segment = place.dead_segment();
  ThreadWriter thread(*segment, 0, 1);
  for (std::uint64_t id = 1; id <= 20; ++id) {
    segment->define(id, "Op" + std::to_string(id), thread.next_ticks());
    thread.record(id);
    thread.flush();
  }
  drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.definitions()[1] == up_to(20));
  CHECK(trace.count(FrameType::definitions) == 1);
  const auto position = [&](FrameType type) {
    return std::find_if(trace.frames.begin(), trace.frames.end(),
                        [&](const Frame& frame) { return frame.header.type == type; });
  };
  CHECK(position(FrameType::definitions) < position(FrameType::chunk));
}

TEST_CASE("open chunks are salvaged up to their last whole record") {
  const Place place;
  auto segment = place.dead_segment();
  ThreadWriter thread(*segment, 0, 1);
  for (std::uint64_t i = 1; i <= 10; ++i) thread.record(i);
  thread.flush();
  for (std::uint64_t i = 11; i <= 20; ++i) thread.record(i);
  segment->slot(0).used -= 1;  // as if its last byte were not written yet
  ThreadWriter other(*segment, 1, 2);
  other.record(1);
  drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  const auto pid = segment->header().pid;
  CHECK(trace.serials()[{pid, 1}] == up_to(19));
  CHECK(trace.serials()[{pid, 2}] == up_to(1));
  std::size_t salvaged = 0;
  for (const Frame& frame : trace.frames) salvaged += frame.header.flags == kSalvaged ? 1 : 0;
  CHECK(salvaged == 2);
}

TEST_CASE("a chunk that was handed on but not emptied comes once") {
  const Place place;
  auto segment = place.dead_segment();
  ThreadWriter thread(*segment, 0, 1);
  for (std::uint64_t i = 1; i <= 10; ++i) thread.record(i);
  thread.flush_half();
  drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(serials_of(trace) == up_to(10));
}

TEST_CASE("repeated open spans are not counted as events") {
  const Place place;
  auto segment = place.dead_segment();
  ThreadWriter thread(*segment, 0, 1);
  thread.record(1);
  std::uint8_t* const chunk = segment->chunk(0);
  const std::uint8_t* end = encode<Kind::open>(chunk, 0, Kind::next, 1u, 0u, 0u, 99u);
  end = encode<Kind::bytes>(const_cast<std::uint8_t*>(end), 1, 1u);
  segment->slot(0).used = static_cast<std::uint32_t>(end - chunk);
  drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().events == 1);
}

TEST_CASE("two sessions give two traces, the processes of one session one") {
  const Place place;
  SegmentPlan plan;
  plan.directory = place.segments.path();
  std::vector<std::unique_ptr<SegmentWriter>> segments;
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::tie(plan.pid, plan.start_time) = dead_process();
    plan.session_pid = 1000 + i % 2;
    plan.session_start_time = 77;
    plan.output = place.outputs / (i % 2 == 0 ? "even.lotus" : "odd.lotus");
    segments.push_back(std::make_unique<SegmentWriter>(plan));
    ThreadWriter thread(*segments.back(), 0, 1);
    for (std::uint64_t serial = 1; serial <= 100 + i; ++serial) thread.record(serial);
  }
  CHECK(drain(place.segments.path()).code == 0);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Trace trace = read_trace(place.outputs / (i % 2 == 0 ? "even.lotus" : "odd.lotus"));
    CHECK(what_is_wrong(trace) == "");
    CHECK(trace.trailer().processes == 2);
    CHECK(trace.serials()[{segments[i]->header().pid, 1}] == up_to(100 + i));
  }
}

TEST_CASE("a live process is drained so far and continued later in the same file") {
  const Place place;
  auto segment = place.own_segment();
  ThreadWriter thread(*segment, 0, 1);
  segment->define(1, "First", thread.next_ticks());
  for (std::uint64_t i = 1; i <= 100; ++i) thread.record(i);
  thread.flush();
  for (std::uint64_t i = 101; i <= 150; ++i) thread.record(i);
  CHECK(drain(place.segments.path()).code == 0);
  Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(serials_of(trace) == up_to(100));  // the open chunk still belongs to its thread
  CHECK(trace.trailer().interrupted == 1);
  CHECK(exists(segment->path()));

  thread.flush();
  segment->define(2, "Second", thread.next_ticks());
  for (std::uint64_t i = 151; i <= 200; ++i) thread.record(i);
  thread.flush();
  CHECK(drain(place.segments.path()).code == 0);
  trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(serials_of(trace) == up_to(200));
  CHECK(trace.definitions()[1] == up_to(2));
  CHECK(trace.trailer().processes == 1);
  CHECK(list(place.outputs.path()).size() == 1);
}

TEST_CASE("what was written before a tail was moved is not written again") {
  const Place place;
  auto segment = place.own_segment();
  ThreadWriter thread(*segment, 0, 1);
  segment->define(1, "First", thread.next_ticks());
  for (std::uint64_t i = 1; i <= 3000; ++i) thread.record(i);
  drain(place.segments.path());
  segment->ring(kEventRing).tail = 0;  // as if the collector had been killed right after write(2)
  segment->ring(kDefinitionRing).tail = 0;
  segment->define(2, "Second", thread.next_ticks());
  thread.flush();
  drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(serials_of(trace) == up_to(3000));
  CHECK(trace.definitions()[1] == up_to(2));
}

TEST_CASE(
    "chunks that the trace lost with its end leave a gap, also where their thread recorded nothing more") {
  for (const bool more : {false, true}) {
    CAPTURE(more);
    const Place place;
    auto segment = place.own_segment();
    ThreadWriter thread(*segment, 0, 1);
    for (std::uint64_t i = 1; i <= 300; ++i) {
      thread.record(i);
      if (i % 100 == 0) thread.flush();
    }
    drain(place.segments.path());
    const Trace whole = read_trace(place.output);
    CHECK(serials_of(whole) == up_to(300));
    std::uint64_t end = 0;
    for (const Frame& frame : whole.frames)
      if (frame.header.type == FrameType::chunk && frame.header.sequence == 3) end = frame.offset;
    REQUIRE(end > 0);
    REQUIRE(truncate(place.output.c_str(), static_cast<off_t>(end)) == 0);
    if (more) thread.record(301);
    segment->header().finished = 1;
    drain(place.segments.path());
    const Trace trace = read_trace(place.output);
    CHECK(what_is_wrong(trace) == "");
    std::vector<std::uint64_t> sequences;
    for (const Frame& frame : trace.frames)
      if (frame.header.type == FrameType::chunk) sequences.push_back(frame.header.sequence);
    CHECK(sequences == std::vector<std::uint64_t>{1, 2, 4});
    CHECK(serials_of(trace).size() == (more ? 201 : 200));
  }
}

TEST_CASE("a segment whose process is in the trace already is only deleted") {
  const Place place;
  auto segment = place.dead_segment();
  ThreadWriter thread(*segment, 0, 1);
  thread.record(1);
  const std::string kept = read_text(segment->path());
  drain(place.segments.path());
  const Trace before = read_trace(place.output);
  write_text(segment->path(), kept);  // as if the collector had been killed before it deleted it
  REQUIRE(chmod(segment->path().c_str(), 0600) == 0);
  drain(place.segments.path());
  const Trace after = read_trace(place.output);
  CHECK(what_is_wrong(after) == "");
  CHECK(serials_of(after) == up_to(1));
  CHECK(after.count(FrameType::process_end) == 1);
  CHECK(before.trailer().events == after.trailer().events);
  CHECK_FALSE(exists(segment->path()));
}

TEST_CASE("a hole that a killed thread left costs only what it reserved") {
  const Place place;
  auto segment = place.dead_segment();
  ThreadWriter thread(*segment, 0, 1);
  for (std::uint64_t i = 1; i <= 10; ++i) thread.record(i);
  thread.flush();
  segment->ring(kEventRing).head += ring_record_bytes(500);
  for (std::uint64_t i = 11; i <= 20; ++i) thread.record(i);
  thread.flush();
  segment->define(1, "First", 1);
  segment->ring(kDefinitionRing).head += ring_record_bytes(50);
  segment->define(2, "Second", 2);
  const Outcome outcome = drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(serials_of(trace) == up_to(20));
  CHECK(trace.definitions()[1] == up_to(2));
  CHECK(end_of(trace).damaged == 2);
  CHECK(outcome.said.find("2 records of shared memory unusable") != std::string::npos);
}

TEST_CASE("a definition that is being written holds up the events behind it") {
  const Place place;
  auto segment = place.own_segment();
  ThreadWriter thread(*segment, 0, 1);
  RingHeader& ring = segment->ring(kDefinitionRing);
  const std::uint64_t reserved = ring.head;
  segment->define(1, "First", 1);
  auto* record = reinterpret_cast<RingRecord*>(reinterpret_cast<std::uint8_t*>(&ring + 1) + reserved);
  const std::uint64_t commit = std::exchange(record->commit, 0);
  thread.record(1);
  thread.flush();
  drain(place.segments.path());
  CHECK(read_trace(place.output).trailer().events == 0);
  record->commit = commit;
  drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().events == 1);
  CHECK(trace.definitions()[1] == up_to(1));
}

TEST_CASE("chunks that lie about themselves are counted and left out") {
  const Place place;
  auto segment = place.dead_segment();
  const auto bytes = encode_serials({1, 2, 3});
  RingRecord lie{};
  lie.raw_bytes = 1u << 27;
  CHECK(push_chunk(*segment, 1, bytes, lie));
  lie = {};
  lie.raw_bytes = static_cast<std::uint32_t>(bytes.size()) + 1;
  CHECK(push_chunk(*segment, 1, bytes, lie));
  lie = {};
  lie.codec = Codec::zstd;
  CHECK(push_chunk(*segment, 1, bytes, lie));
  lie.codec = static_cast<Codec>(7);
  CHECK(push_chunk(*segment, 1, bytes, lie));
  lie = {};
  lie.events = 1u << 30;
  CHECK(push_chunk(*segment, 1, bytes, lie));
  CHECK(push_chunk(*segment, 0, bytes));
  RingRecord honest{};
  honest.events = 3;
  CHECK(push_chunk(*segment, 1, bytes, honest));
  drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(serials_of(trace) == up_to(3));
  CHECK(end_of(trace).damaged == 6);
}

TEST_CASE("thread slots that lie are counted and left out") {
  const Place place;
  auto segment = place.dead_segment();
  for (std::uint32_t i = 0; i < 4; ++i) {
    ThreadWriter thread(*segment, i, i + 1);
    thread.record(1);
  }
  segment->slot(0).used = segment->header().chunk_bytes + 1;
  segment->slot(1).used = ~0u;
  segment->slot(2).stream = 0;
  drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.serials().size() == 1);
  CHECK(end_of(trace).damaged == 3);
}

TEST_CASE("a head that lies does not lead astray") {
  const Place place;
  auto segment = place.dead_segment();
  ThreadWriter thread(*segment, 0, 1);
  thread.record(1);
  thread.flush();
  thread.record(2);
  segment->ring(kEventRing).head = 1ull << 60;
  drain(place.segments.path());
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(serials_of(trace) == std::vector<std::uint64_t>{2});
  CHECK(end_of(trace).damaged == 1);
}

TEST_CASE("a segment that is being made is waited for while its maker lives, or may live elsewhere") {
  const Place place;
  auto own = place.own_segment();
  own->header().ready = 0;
  auto dead = place.dead_segment();
  dead->header().ready = 0;
  Outcome outcome = drain(place.segments.path());
  CHECK(outcome.code == 0);
  CHECK(outcome.said.empty());
  CHECK(exists(own->path()));
  // No process of this pid namespace is filling it, but one of another namespace may be.
  CHECK(exists(dead->path()));
  for (const auto* segment : {own.get(), dead.get()}) {
    const timespec long_ago[2]{};
    REQUIRE(utimensat(AT_FDCWD, segment->path().c_str(), long_ago, 0) == 0);
  }
  outcome = drain(place.segments.path());
  CHECK(outcome.said.empty());
  CHECK(exists(own->path()));
  CHECK_FALSE(exists(dead->path()));
}

TEST_CASE("segments of other versions, namespaces or clocks are left alone") {
  const Place place;
  auto newer = place.dead_segment();
  newer->header().version = 99;
  auto schema = place.dead_segment();
  schema->header().schema_hash ^= 1;
  auto elsewhere = place.dead_segment();
  elsewhere->header().pid_namespace += 1;
  const Outcome outcome = drain(place.segments.path());
  CHECK(outcome.said.find(newer->path() + " is of another version of Lotus (version 99)") !=
        std::string::npos);
  CHECK(outcome.said.find(schema->path() + " is of another version") != std::string::npos);
  CHECK(outcome.said.find(elsewhere->path()) == std::string::npos);
  CHECK(outcome.said.find(place.segments.path() + " also has segments of another pid namespace") !=
        std::string::npos);
  for (const auto* segment : {newer.get(), schema.get(), elsewhere.get()}) CHECK(exists(segment->path()));
  CHECK_FALSE(exists(place.output));
}

TEST_CASE("a process that began anew under its pid leaves the old segment as it was") {
  const Place place;
  TemporaryDirectory logs;
  CollectorProgram collector({"--dir", place.segments.path()}, logs / "log");
  auto old = place.own_segment();
  old->header().life = static_cast<std::uint64_t>(Life::running);
  ThreadWriter thread(*old, 0, 1);
  for (std::uint64_t i = 1; i <= 10; ++i) thread.record(i);
  REQUIRE(eventually([&] { return old->header().reader_pid != 0; }));
  REQUIRE(unlink(old->path().c_str()) == 0);
  auto anew = place.own_segment();
  ThreadWriter again(*anew, 0, 1);
  for (std::uint64_t i = 1; i <= 20; ++i) again.record(i);
  again.flush();
  REQUIRE(eventually([&] { return anew->ring(kEventRing).tail == anew->ring(kEventRing).head; }));
  collector.signal(SIGTERM);
  CHECK(collector.wait().code == 0);
  const Trace trace = read_trace(place.output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.trailer().processes == 2);
  for (const Frame& frame : trace.frames)
    if (frame.header.type == FrameType::process_end) CHECK(frame.header.flags == 0);  // still alive
  CHECK(trace.trailer().events == 30);
  CHECK(exists(anew->path()));
}
