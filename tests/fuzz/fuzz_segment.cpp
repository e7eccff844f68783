// A segment, header page included, whose owner wrote anything into it: what the collector makes of it must be
// a file that it can continue itself.
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

// The first byte of an input: which of the things that a fuzzer cannot guess are set right.
enum Mend : std::uint8_t { kIdentity = 1, kStamps = 2, kSize = 4, kAlive = 8, kFailWrite = 16 };

constexpr std::uint32_t kPid = 4'000'000;  // above any pid of Linux: no such process lives
constexpr std::uint64_t kStartTime = 1;
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

// Whatever stands where a record may begin and has any commit stamp gets the right one.
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

void collect(std::unique_ptr<Segment> segment, std::uint8_t mode) {
  const fuzz::MemoryFile output;
  const FileHeader header = make_file_header(segment->header());
  Packer packer;
  Stacks stacks;
  std::uint64_t end = 0;
  {
    TraceFile file(Fd(dup(output.fd())), "/fuzz.lotus", 0, {});
    file.add_file_header(header);
    TracedProcess process(std::move(segment), ProcessWatch(kPid, kStartTime));
    process.enter_trace(1, nullptr, stacks);
    if ((mode & kAlive) == 0) process.declare_dead();
    process.gather(file, packer, kSecond, false);
    write(file, process, false);
    process.declare_dead();
    for (const bool fail : {(mode & kFailWrite) != 0, false}) {
      process.gather(file, packer, 2 * kSecond, true);
      process.gather_end(file, packer, {1, 1});
      write(file, process, fail);
    }
    end = file.bytes();
  }
  const ScannedTrace scanned = scan_trace(output.fd(), end, sizeof(FileHeader));
  fuzz::promise(scanned.damaged_bytes == 0 && scanned.end == end, "what was written can be continued");
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
  std::vector<Bytes> all;
  for (const std::uint8_t mode :
       {kIdentity | kStamps | kSize, kIdentity | kStamps | kSize | kAlive | kFailWrite}) {
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
  const fuzz::MemoryFile file(bytes);
  collect(std::make_unique<Segment>(SegmentFile{}, GuardedMapping::map(file.fd(), bytes.size()), header),
          mode);
  return 0;
}
