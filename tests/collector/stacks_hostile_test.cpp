// Corrupted snapshots, definitions and ELF files: the collector goes on, and uses bounded time and memory.
#include <doctest/doctest.h>
#include <elf.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <lotus/field.hpp>
#include <random>

#include "log.hpp"
#include "names/named_library.hpp"
#include "names/namer.hpp"
#include "stacks/process_stacks.hpp"
#include "support/collector_run.hpp"
#include "support/snapshots.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::collector;
using namespace lotus::test;

namespace {

using Random = std::mt19937_64;

// Numbers that often reveal errors.
std::uint64_t awkward(Random& random) {
  switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0} - random() % 16;
    case 2:
      return std::uint64_t{1} << (random() % 64);
    case 3:
      return kCommonSpace + random() % (std::uint64_t{1} << 40);
    case 4:
      return random() % 4096;
    case 5:
      return 0x7fff'0000'0000 + random() % 4096;
    default:
      return random();
  }
}

void define(ProcessStacks& process, const std::vector<std::uint8_t>& bytes) { process.define(bytes, 1); }

template <Kind K, class... Values>
void define(ProcessStacks& process, const Values&... values) {
  std::vector<std::uint8_t> bytes(encoded_bound<K>(values...));
  bytes.resize(static_cast<std::size_t>(encode<K>(bytes.data(), 0, values...) - bytes.data()));
  define(process, bytes);
}

ProcessStacks::Taken take(ProcessStacks& process, const std::vector<std::uint8_t>& payload) {
  RingRecord record{};
  record.base_ticks = 10;
  const auto taken = process.take(record, payload, false);
  process.rollback();
  return taken;
}

// Defines the modules of this program, as liblotus would.
void define_own_modules(ProcessStacks& process) {
  const TemporaryDirectory segments;
  SegmentPlan plan;
  plan.directory = segments.path();
  SegmentWriter segment(plan);
  ModuleTeller().tell(segment, 1);
  RingRecord record;
  const std::uint8_t* payload = nullptr;
  RingReader ring(&segment.ring(kDefinitionRing), segment.header().ring_bytes[kDefinitionRing]);
  while (ring.next(record, payload) == RingReader::Next::record) {
    define(process, std::vector<std::uint8_t>(payload, payload + record.stored_bytes));
    ring.release(record);
  }
}

SnapshotParts valid_snapshot() {
  SnapshotParts parts = snapshot_here(4096);
  asm volatile("" ::: "memory");
  return parts;
}

void scribble(std::vector<std::uint8_t>& bytes, Random& random, std::size_t up_to_offset) {
  for (std::uint64_t n = 1 + random() % 8; n > 0 && !bytes.empty(); --n) {
    const std::size_t limit = std::min(bytes.size(), up_to_offset);
    const std::size_t at = random() % limit;
    const std::uint64_t value = awkward(random);
    const std::size_t size = std::min<std::size_t>(std::size_t{1} << (random() % 4), bytes.size() - at);
    std::memcpy(bytes.data() + at, &value, size);
  }
}

struct Fixture {
  Stacks stacks;
  ProcessStacks process{stacks, 1};
};

}  // namespace

TEST_CASE("payloads that are random bytes or too short are damaged") {
  Fixture fixture;
  define_own_modules(fixture.process);
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::uint8_t> bytes(random() % 300);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    CHECK(take(fixture.process, bytes) == ProcessStacks::Taken::damaged);
  }
  const auto whole = valid_snapshot().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(take(fixture.process, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}) ==
          ProcessStacks::Taken::damaged);
}

TEST_CASE("counts that do not fit the payload are damaged, whatever they add up to") {
  Fixture fixture;
  Random random(2);
  const SnapshotParts parts = valid_snapshot();
  for (int i = 0; i < 5000; ++i) {
    auto bytes = parts.bytes();
    SnapshotHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.stack_bytes = static_cast<std::uint32_t>(awkward(random));
    header.python_frames = static_cast<std::uint32_t>(awkward(random));
    if (header.stack_bytes == parts.stack.size() && header.python_frames == 0) continue;
    std::memcpy(bytes.data(), &header, sizeof header);
    CHECK(take(fixture.process, bytes) == ProcessStacks::Taken::damaged);
  }
}

TEST_CASE("counters behind the stack: as many as are said, and no more than there are") {
  Fixture fixture;
  define_own_modules(fixture.process);
  SnapshotParts parts = valid_snapshot();
  const auto with = [&](std::uint64_t said, std::size_t there) {
    auto bytes = parts.bytes();
    const auto* from = reinterpret_cast<const std::uint8_t*>(&said);
    bytes.insert(bytes.end(), from, from + sizeof said);
    bytes.resize(bytes.size() + there * sizeof(SnapshotCount), 7);
    return take(fixture.process, bytes);
  };
  CHECK(with(1, 1) == ProcessStacks::Taken::damaged);  // the flag does not say so
  parts.header.flags = kCarriesCounts;
  CHECK(with(0, 0) == ProcessStacks::Taken::yes);
  CHECK(with(2, 2) == ProcessStacks::Taken::yes);
  CHECK(with(kMaxCounters, kMaxCounters) == ProcessStacks::Taken::yes);
  CHECK(with(kMaxCounters + 1, kMaxCounters + 1) == ProcessStacks::Taken::damaged);
  CHECK(with(2, 1) == ProcessStacks::Taken::damaged);
  CHECK(with(1, 2) == ProcessStacks::Taken::damaged);
  CHECK(with(std::uint64_t{1} << 59, 0) == ProcessStacks::Taken::damaged);  // × 32 is 0
  CHECK(take(fixture.process, parts.bytes()) == ProcessStacks::Taken::damaged);
}

TEST_CASE("registers and stack that are scribbled over give a sample") {
  Fixture fixture;
  define_own_modules(fixture.process);
  Random random(3);
  for (int i = 0; i < 50000; ++i) {
    SnapshotParts parts = valid_snapshot();
    if (i % 3 == 0) parts.python = {{awkward(random), 1, 0}, {awkward(random), 0xffffffff, 0}};
    if (i % 2 == 0) parts.header.entry = awkward(random);
    auto bytes = parts.bytes();
    const std::size_t counts = offsetof(SnapshotHeader, stack_bytes);
    std::vector<std::uint8_t> kept(bytes.begin() + counts, bytes.begin() + sizeof(SnapshotHeader));
    scribble(bytes, random, i % 4 == 0 ? bytes.size() : sizeof(SnapshotHeader) + 64);
    std::memcpy(bytes.data() + counts, kept.data(), kept.size());
    SnapshotHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.flags &= ~kCarriesCounts;  // which says what the payload's size is, too
    std::memcpy(bytes.data(), &header, sizeof header);
    CHECK(take(fixture.process, bytes) == ProcessStacks::Taken::yes);
  }
}

TEST_CASE("a stack whose words all point into code ends") {
  Fixture fixture;
  define_own_modules(fixture.process);
  Random random(4);
  for (int i = 0; i < 10000; ++i) {
    SnapshotParts parts = valid_snapshot();
    const std::uint64_t code = parts.registers[kOwnRegisters.program_counter] + random() % 256;
    const std::uint64_t stack = parts.registers[kOwnRegisters.stack_pointer] + random() % 64;
    for (std::size_t at = 0; at + 8 <= parts.stack.size(); at += 8)
      std::memcpy(parts.stack.data() + at, random() % 2 == 0 ? &code : &stack, 8);
    CHECK(take(fixture.process, parts.bytes()) == ProcessStacks::Taken::yes);
  }
}

TEST_CASE("definitions that make no sense") {
  Random random(5);
  const char* const paths[] = {
      "",           "/",           "/dev/zero",  "/dev/stdin",     "/proc/self/mem",
      "relative",   "[vdso]",      "linux-vdso", "/proc/self/exe", "/usr/lib/x86_64-linux-gnu/libc.so.6",
      "\xff\xfe\n", "/nonexistent"};
  for (int round = 0; round < 40; ++round) {
    Fixture fixture;
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t start = awkward(random);
      define<Kind::module>(fixture.process, random() % 64, start,
                           i % 2 == 0 ? awkward(random) : start + 65536, i % 2 == 0 ? awkward(random) : start,
                           paths[random() % std::size(paths)], std::string_view(i % 3 == 0 ? "" : "abcd"));
      if (i % 5 == 0) define<Kind::module_gone>(fixture.process, awkward(random));
      define<Kind::code>(fixture.process, awkward(random),
                         "\xff\x00"
                         "f",
                         "", awkward(random));
      SnapshotParts parts = valid_snapshot();
      parts.registers[kOwnRegisters.program_counter] = start + random() % 70000;
      parts.python = {
          {parts.registers[kOwnRegisters.stack_pointer], static_cast<std::uint32_t>(awkward(random)), 0}};
      CHECK(take(fixture.process, parts.bytes()) == ProcessStacks::Taken::yes);
    }
    std::vector<std::uint8_t> noise(200);
    for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random());
    define(fixture.process, noise);
  }
}

TEST_CASE("a restored location in a binary that was never defined needs no name") {
  Fixture fixture;
  fixture.stacks.binaries.restore(1, "/lib/one.so", "");
  std::uint64_t id = 0;
  for (const std::uint64_t binary : {std::uint64_t{1}, std::uint64_t{2}, kCommonSpace, ~std::uint64_t{0}})
    for (const std::uint64_t offset : {std::uint64_t{4096}, std::uint64_t{7} << kBinaryBits}) {
      if (binary == 1 && offset == 4096) continue;  // inside the binary
      Record location{};
      location.kind = Kind::location;
      location.u[kPlaceOf<Kind::location, "id">] = ++id;
      location.u[kPlaceOf<Kind::location, "binary">] = binary;
      location.u[kPlaceOf<Kind::location, "offset">] = offset;
      fixture.stacks.store.restore(location);
    }
  CHECK(fixture.stacks.store.unnamed().empty());
  Log log("", Log::Where::nowhere, true);
  name_locations(fixture.stacks, log);
}

TEST_CASE("a pipe in the place of a binary holds nothing up") {
  const TemporaryDirectory place;
  REQUIRE(mkfifo((place / "pipe").c_str(), 0600) == 0);
  CHECK(ElfFile::open(place / "pipe") == nullptr);
  CHECK(ElfFile::open(place.path()) == nullptr);
}

TEST_CASE("code of no bytes, far behind the end of an ELF file") {
  struct {
    Elf64_Ehdr header{};
    Elf64_Phdr code[2]{};
  } image;
  std::memcpy(image.header.e_ident, ELFMAG, SELFMAG);
  image.header.e_ident[EI_CLASS] = ELFCLASS64;
  image.header.e_ident[EI_DATA] = ELFDATA2LSB;
  image.header.e_machine = EM_X86_64;
  image.header.e_phoff = sizeof image.header;
  image.header.e_phnum = 2;
  for (Elf64_Phdr& code : image.code) code.p_type = PT_LOAD, code.p_flags = PF_X;
  image.code[0].p_offset = 0xffff'ffff'0000'1000;
  const TemporaryDirectory place;
  write_text(place / "empty.so", {reinterpret_cast<const char*>(&image), sizeof image});
  const auto file = ElfFile::open(place / "empty.so");
  REQUIRE(file);
  REQUIRE(file->code().size() == 2);
  CHECK(file->code()[0].bytes.empty());
  CHECK(file->code()[0].bytes.data() == file->code()[1].bytes.data());  // within the mapped file
}

TEST_CASE("ELF files that are scribbled over or cut off: frames and names are found or are not") {
  const Library library;
  const std::string original = read_text(library.path);
  const std::string path = library.place / "damaged.so";
  Random random(6);
  int opened = 0;
  for (int i = 0; i < 1500; ++i) {
    CAPTURE(i);
    std::vector<std::uint8_t> bytes(original.begin(), original.end());
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    scribble(bytes, random, i % 2 == 0 ? 1024 : bytes.size());
    write_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const auto file = ElfFile::open(path);
    if (!file) continue;
    ++opened;
    Fixture fixture;
    constexpr std::uint64_t kStart = 0x7f00'0000'0000;
    define<Kind::module>(fixture.process, 1u, kStart, kStart + 0x10000, kStart, path, file->build_id());
    Symbols symbols({path, file->build_id(), 0}, file.get());
    for (std::uint64_t offset = 0x1000; offset < 0x1200; offset += 7) {
      SnapshotParts parts = valid_snapshot();
      parts.registers[kOwnRegisters.program_counter] = kStart + offset;
      for (std::size_t at = 0; at + 8 <= parts.stack.size(); at += 8) {
        const std::uint64_t word = kStart + 0x1000 + random() % 0x200;
        std::memcpy(parts.stack.data() + at, &word, 8);
      }
      CHECK(take(fixture.process, parts.bytes()) == ProcessStacks::Taken::yes);
      CHECK(!symbols.find(1, offset, fixture.stacks.unwinder).empty());
    }
  }
  CHECK(opened > 500);
}

TEST_CASE("snapshots that take long to unwind hold up no other process") {
  constexpr std::uint64_t kModules = 16'000;
  constexpr std::uint64_t kSnapshots = 13'000;
  const TemporaryDirectory segments, files;
  const pid_t child = in_child([] { pause(); });
  SegmentPlan plan;
  plan.directory = segments.path();
  plan.output = files / "quick.lotus";
  SegmentWriter quick(plan);
  plan.pid = static_cast<std::uint32_t>(child);
  plan.output = files / "slow.lotus";
  plan.ring_bytes[kDefinitionRing] = plan.ring_bytes[kStackRing] = std::uint64_t{4} << 20;
  SegmentWriter slow(plan);
  for (std::uint64_t i = 1; i <= kModules; ++i)
    REQUIRE(push_definition<Kind::module>(slow, i, i, i << 16, (i << 16) + 4096, 0u, "/nothing", ""));
  SnapshotParts parts = snapshot_here(0);
  parts.registers[kOwnRegisters.program_counter] = 1;
  // Alternates between two times at which different modules were loaded.
  for (std::uint64_t i = 0; i < kSnapshots; ++i)
    REQUIRE(push_snapshot(slow, parts.bytes(), kModules / 2 + i % 2));
  CollectorProgram collector({"--dir", segments.path()}, files / "log");
  REQUIRE(eventually([&] { return slow.header().reader_pid != 0; }));
  ThreadWriter thread(quick, 0, 1);
  thread.record(1);
  thread.flush();
  CHECK(eventually([&] { return quick.ring(kEventRing).tail == quick.ring(kEventRing).head; }));
  CHECK(slow.ring(kStackRing).tail < slow.ring(kStackRing).head);
  kill(child, SIGKILL);
  wait_for(child);
  collector.signal(SIGTERM);  // the rest is unwound for some seconds, then counted as lost
  CHECK(collector.wait().code == 0);
  const Trace trace = read_trace(files / "slow.lotus");
  CHECK(what_is_wrong(trace).empty());
  std::uint64_t samples = 0, lost = 0;
  for (const Frame& frame : trace.frames) {
    if (frame.header.type == FrameType::samples) samples += frame.header.events;
    if (frame.header.type == FrameType::process_end)
      lost += reinterpret_cast<const ProcessEndFrame*>(frame.body.data())->lost_snapshots;
  }
  MESSAGE(samples << " unwound, " << lost << " given up");
  CHECK(samples + lost == kSnapshots);
}
