// A segment with arbitrary content, header page included, that may be truncated while it is read. The
// collector must make a trace of it that another collector can continue, even if the trace is damaged in
// between.
#include <lotus/events.hpp>

#include "clock.hpp"
#include "fuzz.hpp"
#include "segment.hpp"
#include "session.hpp"
#include "support/segment_writer.hpp"
#include "support/snapshots.hpp"
#include "support/temporary.hpp"
#include "trace_scan.hpp"
#include "trace_start.hpp"

using namespace lotus;
using namespace lotus::collector;

namespace {

// Bits of the first byte of an input. kIdentity, kStamps and kSize correct values that a fuzzer cannot guess;
// the others select what happens during the run.
enum Mode : std::uint8_t {
  kIdentity = 1,
  kStamps = 2,
  kSize = 4,
  kAlive = 8,
  kFailWrite = 16,
  kTorn = 32,     // the segment is truncated while it is read
  kDamaged = 64,  // the trace is damaged before another collector continues it
};

constexpr std::uint32_t kPid = 4'000'000;  // above the greatest pid of Linux, so no such process exists
constexpr std::uint64_t kStartTime = 1;
constexpr std::uint32_t kNumber = 1;  // of the process in the trace
constexpr std::size_t kDamages = 4;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

void mend_identity(fuzz::Bytes& file) {
  auto header = fuzz::read_at<SegmentHeader>(file, 0);
  header.magic = kSegmentMagic;
  header.version = kSegmentVersion;
  header.ready = kReady;
  header.schema_hash = kSchemaHash;
  header.pid = kPid;
  header.start_time = kStartTime;
  header.session_pid |= 1;
  header.pid_namespace = 0;
  header.clock_source = static_cast<ClockSource>(static_cast<std::uint32_t>(header.clock_source) & 1);
  header.tick_shift %= 33;
  header.program[sizeof header.program - 1] = '\0';
  header.output[0] = '/';
  header.output[sizeof header.output - 1] = '\0';
  fuzz::write_at(file, 0, header);
}

// Corrects nonzero commit stamps wherever a record may begin.
void mend_stamps(fuzz::Bytes& file) {
  const auto header = fuzz::read_at<SegmentHeader>(file, 0);
  for (std::uint32_t i = 0; i < kRings; ++i) {
    const std::uint64_t begin = header.ring_offset[i];
    const std::uint64_t bytes = header.ring_bytes[i];
    if (begin >= file.size() || bytes == 0 || bytes > file.size() - begin) continue;
    const auto ring = fuzz::read_at<RingHeader>(file, begin);
    for (std::uint64_t at = 0; at < bytes; at += kRingAlign) {
      const std::uint64_t position = ring.tail + at;
      const std::uint64_t offset = begin + sizeof(RingHeader) + position % bytes;
      if (fuzz::read_at<std::uint64_t>(file, offset) != 0)
        fuzz::write_at(file, offset, commit_stamp(position));
    }
  }
}

void write(TraceFile& file, TracedProcess& process, bool fail) {
  if (fail) {
    file.forget_batch();
    process.rollback();
  } else {
    fuzz::promise(file.write_batch(), "a file in memory can be written");
    process.commit();
  }
}

void restore(Stacks& stacks, const std::vector<DefinitionBody>& definitions) {
  Record record;
  for (const DefinitionBody& body : definitions) {
    const std::uint8_t* at = body.bytes.data();
    while ((at = decode(at, body.bytes.data() + body.bytes.size(), record)) != nullptr)
      stacks.store.restore(record);
  }
}

void gather(TracedProcess& process, TraceFile& file, std::uint8_t mode) {
  Packer packer;
  if ((mode & kAlive) == 0) process.declare_dead();
  process.gather(file, packer, kSecond, false);
  write(file, process, false);
  process.declare_dead();
  for (const bool fail : {(mode & kFailWrite) != 0, false}) {
    process.gather(file, packer, 2 * kSecond, true);
    process.gather_end(file, packer, {1, 1});
    write(file, process, fail);
  }
}

// Collects a segment into the trace that an earlier collector left. Returns the end of the trace.
std::uint64_t collect(const fuzz::Bytes& segment, const fuzz::MemoryFile& trace, ScannedTrace earlier,
                      std::uint8_t mode) {
  const fuzz::MemoryFile shared(segment);
  const auto header = fuzz::read_at<SegmentHeader>(segment, 0);
  auto mapped =
      std::make_unique<Segment>(SegmentFile{}, GuardedMapping::map(shared.fd(), segment.size()), header);
  if ((mode & kTorn) != 0 && ftruncate(shared.fd(), static_cast<off_t>(segment.size() / 2)) != 0)
    std::abort();
  Stacks stacks;
  restore(stacks, earlier.own_definitions);
  TraceFile file(Fd(dup(trace.fd())), "/fuzz.lotus", earlier.end, earlier.index);
  if (earlier.end == 0) file.add_file_header(make_file_header(header));
  TracedProcess process(std::move(mapped), ProcessWatch(kPid, kStartTime));
  const auto known = earlier.processes.find(kNumber);
  process.enter_trace(kNumber, known != earlier.processes.end() ? &known->second : nullptr, stacks);
  if (!process.written_before()) gather(process, file, mode);
  return file.bytes();
}

// Overwrites some bytes behind the file's header. Their values and positions come from the segment's bytes,
// so that the fuzzer controls them.
void damage(const fuzz::MemoryFile& trace, std::uint64_t end, const fuzz::Bytes& segment) {
  for (std::size_t at = segment.size(); at >= segment.size() - kDamages * 8; at -= 8) {
    const auto what = fuzz::read_at<std::uint64_t>(segment, at - 8);
    const std::uint64_t place = sizeof(FileHeader) + (what >> 16) % (end - sizeof(FileHeader));
    const std::size_t bytes = std::min<std::uint64_t>(2, end - place);
    if (pwrite(trace.fd(), &what, bytes, static_cast<off_t>(place)) < 0) std::abort();
  }
}

void collect_twice(const fuzz::Bytes& segment, std::uint8_t mode) {
  const fuzz::MemoryFile trace;
  const std::uint64_t end = collect(segment, trace, {}, mode);
  ScannedTrace scanned = scan_trace(trace.fd(), end, sizeof(FileHeader));
  fuzz::promise(scanned.damaged_bytes == 0 && scanned.end == end, "what was written can be continued");
  if ((mode & kDamaged) == 0) return;
  damage(trace, end, segment);
  scanned = scan_trace(trace.fd(), end, sizeof(FileHeader));
  const std::uint64_t damaged = scanned.damaged_bytes;
  if (ftruncate(trace.fd(), static_cast<off_t>(scanned.end)) != 0) std::abort();
  const std::uint64_t new_end = collect(segment, trace, std::move(scanned), mode);
  scanned = scan_trace(trace.fd(), new_end, sizeof(FileHeader));
  fuzz::promise(scanned.damaged_bytes == damaged && scanned.end == new_end, "so can what was continued");
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
  std::vector<Bytes> all;
  for (const std::uint8_t mode :
       {kIdentity | kStamps | kSize, kIdentity | kStamps | kSize | kAlive | kFailWrite,
        kIdentity | kStamps | kSize | kTorn, kIdentity | kStamps | kSize | kDamaged}) {
    const test::TemporaryDirectory place;
    test::SegmentPlan plan;
    plan.directory = place.path();
    plan.output = "/fuzz.lotus";
    plan.chunk_bytes = 512;
    plan.slots = 2;
    for (auto& bytes : plan.ring_bytes) bytes = 4096;
    plan.ring_bytes[kStackRing] = 8192;
    test::SegmentWriter segment(plan);
    test::ThreadWriter first(segment, 0, 1);
    test::ThreadWriter second(segment, 1, 2);
    segment.define(1, "Op", first.next_ticks());
    test::push_definition<Kind::module>(segment, first.next_ticks(), 1u, 0x7f0000000000u, 0x7f0000100000u,
                                        0x7f0000000000u, "/lib/x86_64-linux-gnu/libc.so.6", "");
    test::push_definition<Kind::code>(segment, first.next_ticks(), 1u, "function", "file.py", 1u);
    test::push_snapshot(segment, test::snapshot_here(512).bytes(), first.next_ticks());
    for (std::uint64_t i = 1; i < 300; ++i) first.record(i);
    for (std::uint64_t i = 1; i < 50; ++i) second.record(i);
    second.flush_half();
    const std::string file = test::read_text(segment.path());
    Bytes seed{mode};
    seed.insert(seed.end(), file.begin(), file.end());
    all.push_back(std::move(seed));
  }
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > kMostBytes) return 0;
  const std::uint8_t mode = data[0];
  fuzz::Bytes bytes(data + 1, data + size);
  bytes.resize(std::max<std::size_t>(bytes.size(), kMinSegmentBytes));
  if ((mode & kIdentity) != 0) mend_identity(bytes);
  if ((mode & kStamps) != 0) mend_stamps(bytes);
  auto header = fuzz::read_at<SegmentHeader>(bytes, 0);
  if ((mode & kSize) != 0) header.segment_bytes = bytes.size();
  fuzz::write_at(bytes, 0, header);
  if (check_segment(header, {{kPid, kStartTime}, bytes.size(), 0}).verdict != Verdict::good) return 0;
  collect_twice(bytes, mode);
  return 0;
}
