// A program overwrites its own shared memory while it is read: the collector neither crashes nor hangs nor
// grows, and other programs are served as usual.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "support/collector_run.hpp"
#include "support/segment_writer.hpp"
#include "support/snapshots.hpp"
#include "support/temporary.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

using Random = std::mt19937_64;

constexpr std::uint64_t kGood = 20'000;           // records of the well-behaved program
constexpr std::uint64_t kMostMemoryKb = 200'000;  // of the collector

std::uint64_t awkward(Random& random, std::uint64_t near) {
  switch (random() % 6) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0} - 64 * (random() % 4);
    case 2:
      return near + 64 * (random() % 256);
    case 3:
      return commit_stamp(near + 64 * (random() % 256));
    case 4:
      return std::uint64_t{1} << (random() % 64);
    default:
      return random();
  }
}

SegmentPlan plan_for(const std::string& directory, const std::string& output) {
  SegmentPlan plan;
  plan.directory = directory;
  plan.output = output;
  plan.chunk_bytes = 512;
  for (auto& bytes : plan.ring_bytes) bytes = 8192;
  return plan;
}

// Writes a segment like a traced process, and overwrites parts of it.
void scribbler(const std::string& directory, const std::string& output, std::uint64_t seed) {
  Random random(seed);
  SegmentWriter segment(plan_for(directory, output));
  auto* const base = reinterpret_cast<std::uint8_t*>(&segment.header());
  // The parts that hold positions and sizes are overwritten more often than the rest.
  const std::size_t bytes = segment.header().segment_bytes;
  std::vector<std::size_t> places{0, sizeof(SegmentHeader), segment.header().slots_offset};
  for (const auto ring : {kDefinitionRing, kEventRing, kStackRing})
    places.push_back(segment.header().ring_offset[ring]);
  ThreadWriter thread(segment, 0, 1);
  const auto snapshot = snapshot_here(512).bytes();
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    for (std::uint64_t n = 0; n < 10; ++n) thread.record(i);
    thread.try_flush();
    segment.define(i, "Op", thread.next_ticks());
    push_snapshot(segment, snapshot, thread.next_ticks());
    const std::size_t begin = random() % 2 == 0 ? random() % bytes : places[random() % places.size()];
    const std::size_t at = std::min(bytes - 8, begin + 8 * (random() % 24)) & ~std::size_t{7};
    const std::uint64_t value = awkward(random, segment.ring(kEventRing).tail);
    std::memcpy(base + at, &value, sizeof value);
    // Restores the fields that the writer itself needs.
    segment.header().ring_bytes[kEventRing] = segment.header().ring_bytes[kDefinitionRing] =
        segment.header().ring_bytes[kStackRing] = 8192;
    segment.header().slots_offset = places[2];
    for (std::size_t ring = 0; ring < kRings; ++ring) segment.header().ring_offset[ring] = places[3 + ring];
    segment.header().chunk_bytes = 512;
    if (i % 10 == 0) usleep(500);
  }
}

std::uint64_t peak_memory_kb(pid_t pid) {
  const std::string text = read_text("/proc/" + std::to_string(pid) + "/status");
  const auto at = text.find("VmHWM:");
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + 6));
}

// Whether the last frame is a trailer. Frames before it may have wrong checksums: the collector copies
// compressed payloads unchanged, also those that were overwritten after compression.
bool ends_with_trailer(const std::string& path) {
  constexpr std::size_t kBytes = sizeof(FrameHeader) + sizeof(TrailerFrame);
  const std::string text = read_text(path);
  if (text.size() < sizeof(FileHeader) + kBytes) return false;
  FrameHeader header{};
  std::memcpy(&header, text.data() + text.size() - kBytes, sizeof header);
  return header.magic == kFrameMagic && header.check == frame_check(header) &&
         header.type == FrameType::trailer;
}

}  // namespace

TEST_CASE("scribbled over while it is read: nothing breaks, others lose nothing") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  const std::string output = outputs / "good.lotus";
  CollectorProgram collector({"--dir", segments.path()}, outputs / "log");
  REQUIRE(eventually([&] { return exists(segments / kCollectorLock); }));
  const pid_t good = in_child([&] {
    SegmentWriter segment(plan_for(segments.path(), output));
    ThreadWriter thread(segment, 0, 1);
    for (std::uint64_t i = 1; i <= kGood; ++i) thread.record(i);
  });
  std::vector<pid_t> bad;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    bad.push_back(in_child(
        [&] { scribbler(segments.path(), outputs / ("bad" + std::to_string(seed) + ".lotus"), seed); }));
  CHECK(wait_for(good) == 0);
  for (const pid_t pid : bad) wait_for(pid);  // any exit code: it may have crashed
  CHECK(eventually([&] { return exists(output) && read_trace(output).closed(); }));
  REQUIRE(collector.running());
  // Files that are not usable segments are named in the log, and left for the user to delete.
  const auto settled = [&] {
    for (const std::string& name : list(segments.path()))
      if (name != kCollectorLock && read_text(outputs / "log").find(name) == std::string::npos) return false;
    return true;
  };
  CHECK(eventually(settled, 60));
  CHECK(peak_memory_kb(collector.pid()) < kMostMemoryKb);
  collector.signal(SIGTERM);
  CHECK(collector.wait().code == 0);
  const Trace trace = read_trace(output);
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.serials()[{static_cast<std::uint32_t>(good), 1}] == up_to(kGood));
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const std::string path = outputs / ("bad" + std::to_string(seed) + ".lotus");
    if (exists(path)) CHECK(ends_with_trailer(path));
  }
}
