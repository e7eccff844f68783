// Corrupted segment headers are refused, whichever field is invalid.
#include "segment_check.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <functional>

using namespace lotus;
using namespace lotus::collector;

namespace {

constexpr std::uint64_t kBytes = 200'000;
constexpr SegmentFacts kFacts{{42, 4242}, kBytes, 7};

template <std::size_t Size>
void set_text(char (&field)[Size], const char* text) {
  std::snprintf(field, Size, "%s", text);
}

SegmentHeader good_header() {
  SegmentHeader header{};
  header.magic = kSegmentMagic;
  header.version = kSegmentVersion;
  header.ready = kReady;
  header.schema_hash = kSchemaHash;
  header.segment_bytes = kBytes;
  header.pid = header.session_pid = 42;
  header.start_time = header.session_start_time = 4242;
  header.pid_namespace = 7;
  header.tick_shift = kTickShift;
  header.slot_count = 4;
  header.chunk_bytes = 4096;
  header.slots_offset = 4096;
  header.ring_offset[0] = 8192;
  header.ring_bytes[0] = 1 << 14;
  header.ring_offset[1] = 1 << 15;
  header.ring_bytes[1] = 1 << 14;
  header.ring_offset[2] = 1 << 16;
  header.ring_bytes[2] = 1 << 15;
  header.chunks_offset = 1 << 17;
  set_text(header.program, "train");
  set_text(header.output, "/tmp/x.lotus");
  return header;
}

Verdict verdict_after(const std::function<void(SegmentHeader&)>& change) {
  SegmentHeader header = good_header();
  change(header);
  return check_segment(header, kFacts).verdict;
}

}  // namespace

TEST_CASE("a sound header is good") { CHECK(check_segment(good_header(), kFacts).verdict == Verdict::good); }

TEST_CASE("what is being made, of another version, or of another container is told apart") {
  CHECK(verdict_after([](auto& h) { h.ready = 0; }) == Verdict::not_ready);
  CHECK(verdict_after([](auto& h) { h = {}; }) == Verdict::not_ready);
  CHECK(verdict_after([](auto& h) { ++h.version; }) == Verdict::other_version);
  CHECK(verdict_after([](auto& h) { h.schema_hash ^= 1; }) == Verdict::other_version);
  CHECK(verdict_after([](auto& h) { h.pid_namespace = 8; }) == Verdict::elsewhere);
  CHECK(verdict_after([](auto& h) { h.pid_namespace = 0; }) == Verdict::good);
  CHECK(verdict_after([](auto& h) { h.magic ^= 1; }) == Verdict::damaged);
}

TEST_CASE("identity and texts are checked") {
  const std::function<void(SegmentHeader&)> changes[] = {
      [](auto& h) { h.segment_bytes = kBytes - 1; },
      [](auto& h) { h.segment_bytes = 0; },
      [](auto& h) { h.pid = 43; },
      [](auto& h) { h.start_time = 4243; },
      [](auto& h) { h.session_pid = 0; },
      [](auto& h) { h.clock_source = static_cast<ClockSource>(2); },
      [](auto& h) { h.tick_shift = 33; },
      [](auto& h) { std::memset(h.program, 'x', sizeof h.program); },
      [](auto& h) { std::memset(h.output, '/', sizeof h.output); },
      [](auto& h) { set_text(h.output, "relative.lotus"); },
      [](auto& h) { h.output[0] = 0; },
  };
  for (const auto& change : changes) CHECK(verdict_after(change) == Verdict::damaged);
}

TEST_CASE("every count, size and offset with an absurd value is refused") {
  const std::uint64_t absurd[] = {1,          63,         kBytes - 1, kBytes,     kBytes + 64,
                                  1ull << 32, 1ull << 63, ~0ull,      ~0ull - 63, ~0ull - 127};
  for (const std::uint64_t value : absurd) {
    CAPTURE(value);
    CHECK(verdict_after([&](auto& h) { h.slots_offset = value; }) == Verdict::damaged);
    CHECK(verdict_after([&](auto& h) { h.ring_offset[0] = value; }) == Verdict::damaged);
    CHECK(verdict_after([&](auto& h) { h.ring_offset[1] = value; }) == Verdict::damaged);
    CHECK(verdict_after([&](auto& h) { h.ring_bytes[0] = value; }) == Verdict::damaged);
    CHECK(verdict_after([&](auto& h) { h.ring_bytes[1] = value; }) == Verdict::damaged);
    CHECK(verdict_after([&](auto& h) { h.chunks_offset = value; }) == Verdict::damaged);
  }
  for (const std::uint32_t value : {0u, 1u << 17, 1u << 26, 1u << 31, ~0u}) {
    CAPTURE(value);
    CHECK(verdict_after([&](auto& h) { h.slot_count = value; }) == Verdict::damaged);
    CHECK(verdict_after([&](auto& h) { h.chunk_bytes = value; }) == Verdict::damaged);
  }
  CHECK(verdict_after([](auto& h) { h.ring_bytes[0] = 0; }) == Verdict::damaged);
}

TEST_CASE("parts that overlap are refused") {
  CHECK(verdict_after([](auto& h) { h.slots_offset = 0; }) == Verdict::damaged);
  CHECK(verdict_after([](auto& h) { h.ring_offset[1] = h.ring_offset[0]; }) == Verdict::damaged);
  CHECK(verdict_after([](auto& h) { h.chunks_offset = h.ring_offset[1] + 64; }) == Verdict::damaged);
  CHECK(verdict_after([](auto& h) { h.slots_offset = h.ring_offset[0] - 64; }) == Verdict::damaged);
  CHECK(verdict_after([](auto& h) { h.ring_bytes[0] = h.ring_offset[1] - h.ring_offset[0]; }) ==
        Verdict::damaged);
}

TEST_CASE("only names of segments are names of segments") {
  const auto name = parse_segment_name("17-123456789012.segment");
  REQUIRE(name);
  CHECK(name->pid == 17);
  CHECK(name->start_time == 123456789012);
  CHECK(name->number == 0);
  const auto second = parse_segment_name("17-5.2.segment");
  REQUIRE(second);
  CHECK(second->start_time == 5);
  CHECK(second->number == 2);
  for (const char* other : {"",
                            "-",
                            "17",
                            "17-",
                            "17-1",
                            "17-1.segmen",
                            "17-1.segmentx",
                            "0-1.segment",
                            "-1-1.segment",
                            "017-1.segment",
                            "17-01.segment",
                            "+17-1.segment",
                            "17 -1.segment",
                            "17-1.segment.old",
                            "99999999999-1.segment",
                            "17-99999999999999999999.segment",
                            "17-1..segment",
                            "17-1.0.segment",
                            "17-1.01.segment",
                            "17-1.x.segment",
                            "17-1.1.1.segment",
                            "17-1.99999999999.segment",
                            "collector.lock"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_segment_name(other));
  }
}
