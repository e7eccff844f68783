#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "record/recorder.hpp"
#include "record/paths.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "life/config.hpp"
#include "life/first_event.hpp"

using namespace lotus;

namespace {

// Each test records in a child process of its own, because the recorder's state is global.
template <class Body>
void in_new_process(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    char directory[] = "/dev/shm/lotus-test-XXXXXX";
    if (mkdtemp(directory) == nullptr) _exit(3);
    setenv("LOTUS_DIR", directory, 1);
    setenv("LOTUS_AUTOSTART", "0", 1);
    setenv("LOTUS_OUTPUT", "/dev/null", 1);
    read_config();
    choose_clock();
    const bool passed = body();
    std::filesystem::remove_all(directory);
    _exit(passed ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

struct Chunk {
  RingRecord header;
  std::string bytes;
};

// The chunks in the event ring.
std::vector<Chunk> drain() {
  auto* base = reinterpret_cast<std::uint8_t*>(process.segment.header);
  const auto& header = *process.segment.header;
  RingReader reader(reinterpret_cast<RingHeader*>(base + header.ring_offset[kEventRing]),
                    header.ring_bytes[kEventRing]);
  std::vector<Chunk> chunks;
  RingRecord record;
  const std::uint8_t* payload = nullptr;
  while (reader.next(record, payload) == RingReader::Next::record) {
    std::string bytes(record.raw_bytes, '\0');
    if (record.codec == Codec::zstd)
      bytes.resize(ZSTD_decompress(bytes.data(), bytes.size(), payload, record.stored_bytes));
    else
      bytes.assign(reinterpret_cast<const char*>(payload), record.stored_bytes);
    chunks.push_back({record, std::move(bytes)});
    reader.release(record);
  }
  return chunks;
}

std::vector<Record> records_of(const std::string& bytes) {
  std::vector<Record> records;
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto* end = at + bytes.size();
  Record record;
  while (at != nullptr && at < end) {
    at = decode(at, end, record);
    if (at != nullptr) records.push_back(record);
  }
  return records;
}

#define EXPECT(condition)                                                \
  if (!(condition)) {                                                    \
    std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    return false;                                                        \
  }

}  // namespace

TEST_CASE("everything that was recorded is in the chunks, in order, whatever their number") {
  in_new_process([] {
    constexpr std::uint32_t kOps = 50'000;
    std::uint32_t next = 0;
    std::uint64_t sequence = 0;
    std::uint64_t leaves = 0;
    bool in_order = true;
    const auto check = [&] {
      for (const auto& chunk : drain()) {
        in_order = in_order && chunk.header.sequence == ++sequence;
        for (const auto& record : records_of(chunk.bytes)) {
          if (record.kind == Kind::op) in_order = in_order && field<Kind::op, "def">(record) == next++;
          leaves += record.kind == Kind::leave;
        }
      }
    };
    for (std::uint32_t i = 0; i < kOps; ++i) {
      leave(enter<Kind::op>(i), Kind::leave);
      if (i % 1000 == 0) check();
    }
    flush(*current_thread());
    check();
    EXPECT(in_order);
    EXPECT(next == kOps && leaves == kOps);
    EXPECT(sequence > 10);
    EXPECT(process.segment.header->lost_events == 0);
    return true;
  });
}

TEST_CASE("a full ring drops whole chunks, counts their events, and says so in the next one") {
  in_new_process([] {
    std::uint64_t recorded = 0;
    while (process.segment.header == nullptr || process.segment.header->lost_chunks < 3) {
      leave(enter<Kind::op>(recorded * 0x9e3779b97f4a7c15), Kind::leave);  // hardly compresses: fills fast
      recorded += 2;
      EXPECT(recorded < 100'000'000);
    }
    std::uint64_t seen = 0;
    for (const auto& chunk : drain()) seen += chunk.header.events;
    flush(*current_thread());
    const auto last = drain();
    EXPECT(last.size() == 1);
    EXPECT(last[0].header.lost_before == process.segment.header->lost_events);
    EXPECT(seen + last[0].header.events + last[0].header.lost_before == recorded);
    return true;
  });
}

TEST_CASE("a chunk begins with the spans that are open") {
  in_new_process([] {
    const Span outer = enter<Kind::fetch>(1, 2, 3);
    const Span inner = enter<Kind::sample>(-1);
    flush(*current_thread());
    leave(inner, Kind::leave);
    leave(outer, Kind::leave_error);
    flush(*current_thread());
    const auto chunks = drain();
    EXPECT(chunks.size() == 2);
    const auto records = records_of(chunks[1].bytes);
    EXPECT(records.size() == 4);
    const auto opens = [&](std::size_t i, Kind kind) {
      return records[i].kind == Kind::open &&
             field<Kind::open, "kind">(records[i]) == static_cast<std::uint64_t>(kind);
    };
    EXPECT((opens(0, Kind::fetch) && field<Kind::open, "a">(records[0]) == 1));
    EXPECT((field<Kind::open, "b">(records[0]) == 2 && field<Kind::open, "c">(records[0]) == 3));
    EXPECT((opens(1, Kind::sample) && unzigzag(field<Kind::open, "a">(records[1])) == -1));
    EXPECT(records[2].kind == Kind::leave && records[3].kind == Kind::leave_error);
    EXPECT(chunks[1].header.events == 2);  // the repeated records at the chunk's start do not count
    return true;
  });
}

TEST_CASE("spans that were abandoned are closed as lost, when the next outer one ends") {
  in_new_process([] {
    const Span outer = enter<Kind::fetch>(0, 0, 0);
    enter<Kind::sample>(1);
    enter<Kind::op>(1);
    leave(outer, Kind::leave);
    flush(*current_thread());
    const auto chunks = drain();
    const auto records = records_of(chunks.at(0).bytes);
    EXPECT(records.size() == 6);
    EXPECT(records[3].kind == Kind::leave_lost && records[4].kind == Kind::leave_lost);
    EXPECT(records[5].kind == Kind::leave);
    return true;
  });
}

TEST_CASE("spans nested too deeply are counted and leave the others whole") {
  in_new_process([] {
    std::vector<Span> spans;
    for (std::uint32_t i = 0; i < kMaxSpans + 10; ++i) spans.push_back(enter<Kind::op>(i));
    while (!spans.empty()) {
      leave(spans.back(), Kind::leave);
      spans.pop_back();
    }
    flush(*current_thread());
    const auto chunks = drain();
    EXPECT(records_of(chunks.at(0).bytes).size() == 2 * kMaxSpans);
    EXPECT(process.segment.header->dropped_spans == 10);
    return true;
  });
}

TEST_CASE("paths are front-coded against the chunk's previous path") {
  in_new_process([] {
    const Span span = enter<Kind::sample>(0);
    const std::string first = "/data/train/n01440764/1.jpeg";
    const std::string second = "/data/train/n01440764/22.jpeg";
    record_path(first.data(), first.size());
    record_path(second.data(), second.size());
    leave(span, Kind::leave);
    flush(*current_thread());
    const auto chunks = drain();
    const auto records = records_of(chunks.at(0).bytes);
    EXPECT(records.size() == 4);
    const auto suffix = [&](std::size_t i) { return std::string(field<Kind::path, "suffix">(records[i])); };
    EXPECT((field<Kind::path, "shared">(records[1]) == 0 && suffix(1) == first));
    EXPECT((first.substr(0, field<Kind::path, "shared">(records[2])) + suffix(2) == second));
    return true;
  });
}

TEST_CASE("slots of threads that ended are used again, and their last chunks are handed on") {
  in_new_process([] {
    constexpr int kThreads = 100;
    for (int i = 0; i < kThreads; ++i) {
      std::thread([i] { leave(enter<Kind::op>(i), Kind::leave); }).join();
    }
    std::map<std::uint32_t, std::uint64_t> operations;  // by stream
    for (const auto& chunk : drain())
      for (const auto& record : records_of(chunk.bytes))
        if (record.kind == Kind::op) operations[chunk.header.stream] = field<Kind::op, "def">(record);
    const auto& header = *process.segment.header;
    for (std::uint32_t i = 0; i < header.slot_count; ++i) {  // the open chunks, which a collector salvages
      const ThreadSlot& slot = process.segment.slots[i];
      const std::string bytes(reinterpret_cast<const char*>(process.segment.chunk_of(i)), slot.used);
      for (const auto& record : records_of(bytes))
        if (record.kind == Kind::op) operations[slot.stream] = field<Kind::op, "def">(record);
    }
    std::set<std::uint64_t> distinct;
    for (const auto& [stream, operation] : operations) distinct.insert(operation);
    EXPECT(operations.size() == kThreads && distinct.size() == kThreads);
    EXPECT(header.dropped_spans == 0);
    return true;
  });
}

TEST_CASE("a forked child makes its own segment and never closes its parent's spans") {
  in_new_process([] {
    const Span span = enter<Kind::fetch>(0, 0, 0);
    const auto* parents = process.segment.header;
    const std::uint32_t used = process.segment.slots[0].used;
    const pid_t child = fork();
    if (child == 0) {
      become_child();
      leave(span, Kind::leave);
      const bool untouched = process.segment.header == nullptr;
      leave(enter<Kind::op>(1), Kind::leave);
      const bool own = process.segment.header != nullptr &&
                       process.segment.header->pid == static_cast<std::uint32_t>(getpid()) &&
                       process.segment.header->session_pid == static_cast<std::uint32_t>(getppid());
      _exit(untouched && own ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT(status == 0);
    EXPECT(process.segment.header == parents && process.segment.slots[0].used == used);
    leave(span, Kind::leave);
    EXPECT(process.segment.slots[0].used > used);
    return true;
  });
}
