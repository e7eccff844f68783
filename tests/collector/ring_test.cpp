// Rings: many writers and one reader, holes that killed threads leave, and corrupted positions.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "ring_cursor.hpp"
#include "support/temporary.hpp"

using namespace lotus;
using collector::RingCursor;

namespace {

template <std::uint64_t Bytes>
struct Ring {
  RingHeader header{};
  alignas(64) std::array<std::uint8_t, Bytes> data{};
  RingWriter writer() { return {&header, Bytes}; }
  RingCursor cursor() { return {&header, Bytes}; }
};

RingRecord chunk(std::uint32_t stream, std::uint64_t sequence, std::uint32_t bytes) {
  RingRecord record{};
  record.kind = RingKind::chunk;
  record.stream = stream;
  record.sequence = sequence;
  record.stored_bytes = record.raw_bytes = bytes;
  return record;
}

std::uint8_t pattern(std::uint32_t stream, std::uint64_t sequence, std::size_t i) {
  return static_cast<std::uint8_t>(stream * 31 + sequence * 7 + i);
}

bool push(RingWriter writer, std::uint32_t stream, std::uint64_t sequence, std::uint32_t bytes) {
  std::vector<std::uint8_t> payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i) payload[i] = pattern(stream, sequence, i);
  return writer.push(chunk(stream, sequence, bytes), payload.data()).payload != nullptr;
}

bool intact(const RingRecord& record, const std::uint8_t* payload) {
  for (std::size_t i = 0; i < record.stored_bytes; ++i)
    if (payload[i] != pattern(record.stream, record.sequence, i)) return false;
  return true;
}

// Takes all available records; returns their sequence numbers in order.
std::vector<std::uint64_t> take_all(RingCursor& cursor, RingCursor::Next& stopped_at) {
  std::vector<std::uint64_t> taken;
  RingRecord record;
  const std::uint8_t* payload = nullptr;
  const std::uint64_t limit = cursor.head();
  while ((stopped_at = cursor.next(limit, record, payload)) == RingCursor::Next::record) {
    CHECK(intact(record, payload));
    taken.push_back(record.sequence);
    cursor.advance(record);
  }
  return taken;
}

// Reserves room as push() does and never fills it, like a thread that is killed in between.
template <class AnyRing>
void leave_hole(AnyRing& ring, std::uint32_t bytes) {
  ring.header.head += ring_record_bytes(bytes);
}

}  // namespace

TEST_CASE("every record of several writers comes once, whole, and in its writer's order") {
  constexpr std::uint32_t kWriters = 4;
  constexpr std::uint64_t kEach = 5000;
  static Ring<16384> ring;
  std::atomic<std::uint64_t> refused{0};
  std::vector<std::thread> writers;
  for (std::uint32_t stream = 0; stream < kWriters; ++stream)
    writers.emplace_back([&, stream] {
      std::mt19937 random(stream);
      for (std::uint64_t sequence = 1; sequence <= kEach; ++sequence)
        while (!push(ring.writer(), stream, sequence, random() % 1500)) {
          refused.fetch_add(1, std::memory_order_relaxed);
          std::this_thread::yield();
        }
    });
  std::array<std::uint64_t, kWriters> last{};
  std::uint64_t taken = 0;
  RingCursor cursor = ring.cursor();
  while (taken < kWriters * kEach) {
    RingRecord record;
    const std::uint8_t* payload = nullptr;
    const std::uint64_t limit = cursor.head();
    while (cursor.next(limit, record, payload) == RingCursor::Next::record) {
      REQUIRE(intact(record, payload));
      REQUIRE(record.sequence == ++last.at(record.stream));
      cursor.advance(record);
      ++taken;
      if (taken % 3 == 0) cursor.give_back();
    }
    cursor.give_back();
    std::this_thread::yield();
  }
  for (auto& writer : writers) writer.join();
  CHECK(cursor.position() == cursor.head());
  CHECK(refused > 0);  // the test must reach a full ring
}

TEST_CASE("a writer is told when less than half of the ring is left") {
  Ring<4096> ring;
  const RingWriter writer = ring.writer();
  std::uint64_t pushed = 0;
  while (writer.half_empty()) REQUIRE(push(ring.writer(), 1, pushed++, 100));
  const std::uint64_t each = ring.header.head / pushed;
  CHECK(ring.header.head > 2048);
  CHECK(ring.header.head <= 2048 + each);
  ring.header.tail = ring.header.head;  // as if the reader had taken everything
  CHECK(writer.half_empty());
}

TEST_CASE("what is not given back is found again by the next reader") {
  static Ring<4096> ring;
  for (std::uint64_t i = 1; i <= 5; ++i) CHECK(push(ring.writer(), 1, i, 100));
  RingCursor::Next stopped;
  RingCursor first = ring.cursor();
  CHECK(take_all(first, stopped).size() == 5);
  RingCursor second = ring.cursor();
  CHECK(take_all(second, stopped) == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
  second.give_back();
  RingCursor third = ring.cursor();
  CHECK(take_all(third, stopped).empty());
  CHECK(stopped == RingCursor::Next::end);
}

TEST_CASE("a hole stops a reader, and is stepped over once its writer is dead") {
  for (std::uint32_t hole = 1; hole < 2000; hole += 97) {
    CAPTURE(hole);
    Ring<8192> ring;
    RingCursor cursor = ring.cursor();
    RingCursor::Next stopped;
    for (std::uint64_t lap = 0; lap < 3; ++lap) {  // so that the hole contains bytes of older laps
      for (std::uint64_t i = 1; i <= 6; ++i) push(ring.writer(), 1, i, 900);
      take_all(cursor, stopped);
      cursor.give_back();
    }
    CHECK(push(ring.writer(), 1, 7, 300));
    const std::uint64_t rest = 8192 - ring.header.head % 8192;
    if (rest < ring_record_bytes(hole)) continue;  // the hole would begin with a pad record
    leave_hole(ring, hole);
    CHECK(push(ring.writer(), 1, 9, 300));
    CHECK(push(ring.writer(), 1, 10, 300));
    CHECK(take_all(cursor, stopped) == std::vector<std::uint64_t>{7});
    CHECK(stopped == RingCursor::Next::hole);
    CHECK(cursor.resync(cursor.head()));
    CHECK(take_all(cursor, stopped) == std::vector<std::uint64_t>{9, 10});
    CHECK(stopped == RingCursor::Next::end);
    CHECK_FALSE(cursor.resync(cursor.head()));
  }
}

TEST_CASE("a hole at the end of all is the end") {
  Ring<4096> ring;
  CHECK(push(ring.writer(), 1, 1, 10));
  leave_hole(ring, 500);
  RingCursor cursor = ring.cursor();
  RingCursor::Next stopped;
  CHECK(take_all(cursor, stopped).size() == 1);
  CHECK(stopped == RingCursor::Next::hole);
  CHECK_FALSE(cursor.resync(cursor.head()));
  CHECK(cursor.position() == cursor.head());
}

TEST_CASE("positions that lie are not followed") {
  for (const std::uint64_t head : {1ull, 63ull, 4160ull, 1ull << 40, ~0ull, ~0ull - 63}) {
    CAPTURE(head);
    Ring<4096> ring;
    RingCursor cursor = ring.cursor();
    ring.header.head = head;
    RingRecord record;
    const std::uint8_t* payload = nullptr;
    CHECK(cursor.next(cursor.head(), record, payload) == RingCursor::Next::damaged);
    CHECK_FALSE(cursor.resync(cursor.head()));
  }
}

TEST_CASE("a tail that lies starts the ring anew at its head") {
  for (const std::uint64_t tail : {1ull, 4096ull * 7, 1ull << 50, ~0ull}) {
    CAPTURE(tail);
    Ring<4096> ring;
    CHECK(push(ring.writer(), 1, 1, 10));
    ring.header.tail = tail;
    RingCursor cursor = ring.cursor();
    CHECK_FALSE(cursor.found_sound());
    cursor.give_back();
    CHECK(push(ring.writer(), 1, 2, 10));
    RingCursor::Next stopped;
    CHECK(take_all(cursor, stopped) == std::vector<std::uint64_t>{2});
  }
}

TEST_CASE("a record that reaches over the end of the ring is damaged") {
  Ring<4096> ring;
  RingCursor cursor = ring.cursor();
  RingCursor::Next stopped;
  CHECK(push(ring.writer(), 1, 1, 4096 - 3 * 64));
  take_all(cursor, stopped);
  cursor.give_back();
  CHECK(push(ring.writer(), 1, 2, 64));  // fills the lap
  auto& record = *reinterpret_cast<RingRecord*>(ring.data.data() + 4096 - 128);
  REQUIRE(record.sequence == 2);
  record.bytes = 1024;
  record.stored_bytes = 900;
  ring.header.head += 1024;
  take_all(cursor, stopped);
  CHECK(stopped == RingCursor::Next::damaged);
}

TEST_CASE("a committed record whose sizes lie is damaged") {
  const auto spoil = [](auto change) {
    Ring<4096> ring;
    push(ring.writer(), 1, 1, 100);
    change(*reinterpret_cast<RingRecord*>(ring.data.data()));
    RingCursor cursor = ring.cursor();
    RingRecord record;
    const std::uint8_t* payload = nullptr;
    return cursor.next(cursor.head(), record, payload);
  };
  CHECK(spoil([](RingRecord&) {}) == RingCursor::Next::record);
  for (const std::uint32_t bytes : {0u, 1u, 32u, 65u, 4160u, 1u << 31, ~0u, ~0u - 63}) {
    CAPTURE(bytes);
    CHECK(spoil([&](RingRecord& record) { record.bytes = bytes; }) == RingCursor::Next::damaged);
  }
  for (const std::uint32_t bytes : {129u, 1u << 31, ~0u}) {
    CAPTURE(bytes);
    CHECK(spoil([&](RingRecord& record) { record.stored_bytes = bytes; }) == RingCursor::Next::damaged);
  }
}

TEST_CASE("the reader is called once, by the record that fills a quarter of the ring") {
  static Ring<4096> ring;
  RingWriter writer = ring.writer();
  RingCursor cursor = ring.cursor();
  const std::array<std::uint8_t, 64> payload{};
  RingCursor::Next stopped_at;
  for (int lap = 0; lap < 3; ++lap) {
    int calls = 0;
    while (ring.header.head - ring.header.tail < 2048) {
      const std::uint64_t filled = ring.header.head - ring.header.tail;
      const RingWriter::Room room = writer.push(chunk(1, 1, 64), payload.data());
      REQUIRE(room.payload != nullptr);
      calls += room.call ? 1 : 0;
      if (room.call) CHECK((filled < 1024 && ring.header.head - ring.header.tail >= 1024));
    }
    CHECK(calls == 1);
    RingRecord record;
    const std::uint8_t* at = nullptr;
    while ((stopped_at = cursor.next(cursor.head(), record, at)) == RingCursor::Next::record)
      cursor.advance(record);
    cursor.give_back();
    CHECK(ring.header.head == ring.header.tail);
  }
}
