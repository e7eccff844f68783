// Damaged, foreign and inconsistent trace files.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>

#include "made_trace.hpp"
#include "text/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

std::string refusal(const Bytes& bytes) {
  const TemporaryFile file(bytes);
  try {
    const Trace trace(file.path());
  } catch (const Unusable& error) {
    CHECK(std::string(error.what()).find(file.path()) == 0);  // the message begins with the file's name
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

Bytes with_header(const std::function<void(FileHeader&)>& change) {
  MadeTrace made;
  made.close();
  FileHeader header;
  std::memcpy(&header, made.bytes.data(), sizeof header);
  change(header);
  std::memcpy(made.bytes.data(), &header, sizeof header);
  return made.bytes;
}

// Writes ten chunks of one fetch each; returns the offset of each frame.
std::vector<std::size_t> ten_chunks(MadeTrace& made, std::uint32_t worker) {
  std::vector<std::size_t> offsets;
  ThreadWriter thread(made, worker, 1);
  for (std::uint64_t i = 0; i < 10; ++i) {
    offsets.push_back(made.bytes.size());
    span<Kind::fetch>(thread, static_cast<double>(i), static_cast<double>(i) + 0.5, 0, 0, i);
    thread.flush();
  }
  offsets.push_back(made.bytes.size());
  made.close();
  return offsets;
}

}  // namespace

TEST_CASE("each way to be no trace has its own message") {
  CHECK(says(refusal({}), "is empty"));
  CHECK(says(refusal({'P', 'K', 3, 4, 0, 0, 0, 0, 0}), "is not a Lotus trace"));
  CHECK(says(refusal({'L', 'O', 'T'}), "cut off inside the file header (it has 3 of 64 bytes)"));
  CHECK(says(refusal(with_header([](FileHeader& h) { h.magic[5] = '\n'; })), "transfer in text mode"));
  CHECK(says(refusal(with_header([](FileHeader& h) { h.version = 2; })), "is of trace version 2"));
  CHECK(says(refusal(with_header([](FileHeader& h) { h.version = 0; })), "damaged"));
  CHECK(says(refusal(with_header([](FileHeader& h) { h.header_bytes = 10; })), "damaged"));
  CHECK(says(refusal(with_header([](FileHeader& h) { h.header_bytes = 100'000; })),
             "cut off inside the file header"));
  CHECK(says(refusal(with_header([](FileHeader& h) { h.tick_shift = 64; })), "damaged"));
  CHECK(says(refusal(with_header([](FileHeader& h) { h.clock_source = static_cast<ClockSource>(7); })),
             "damaged"));
  CHECK(refusal(with_header([](FileHeader&) {})) == "accepted");
}

TEST_CASE("what is missing, or no file, is refused") {
  CHECK_THROWS_WITH_AS(Trace("/nonexistent/x.lotus"), doctest::Contains("there is no such file"), Unusable);
  CHECK_THROWS_WITH_AS(Trace("/tmp"), doctest::Contains("no regular file"), Unusable);
  CHECK_THROWS_WITH_AS(Trace("/dev/null"), doctest::Contains("no regular file"), Unusable);
}

TEST_CASE("a flipped bit anywhere costs at most the frame that it is in") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  const std::size_t first = ten_chunks(made, worker).front();
  const Bytes whole = made.bytes;
  // The loop ends before the trailer's payload, which has no checksum.
  for (std::size_t at = first; at < whole.size() - sizeof(TrailerFrame); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= static_cast<std::uint8_t>(1u << (at % 8));
    const TemporaryFile file(bytes);
    Trace trace(file.path());
    Seen seen;
    const Reading reading = show(trace, seen);
    const std::uint64_t damaged = trace.damage.count + reading.damage.count + (trace.truncated() ? 1 : 0);
    // zstd ignores a few bits of its headers: a flip there damages nothing.
    CHECK_MESSAGE((damaged >= 1 || seen.spans.size() == 10), "at byte ", at);
    CHECK_MESSAGE(seen.spans.size() >= 9, "at byte ", at);
    for (const auto& span : seen.spans) CHECK(span.ms == doctest::Approx(0.5));
  }
}

TEST_CASE("bytes taken out or put in are skipped, and counted") {
  MadeTrace made;
  const auto offsets = ten_chunks(made, made.worker(1, 0));
  const auto middle = static_cast<std::ptrdiff_t>(offsets[4] + sizeof(FrameHeader) + 3);
  Bytes shorter = made.bytes;
  shorter.erase(shorter.begin() + middle, shorter.begin() + middle + 5);
  Bytes longer = made.bytes;
  longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(offsets[4]), 70'000, 'L');
  for (const auto* bytes : {&shorter, &longer}) {
    const TemporaryFile file(*bytes);
    Trace trace(file.path());
    Seen seen;
    const Reading reading = show(trace, seen);
    CHECK(seen.spans.size() == (bytes == &shorter ? 9 : 10));
    CHECK(trace.damage.count + reading.damage.count >= 1);
    CHECK_FALSE(trace.truncated());
    if (bytes == &longer) CHECK(trace.damage.bytes == 70'000);
  }
}

TEST_CASE("a frame that promises more than it may is not believed") {
  for (const bool header_lies : {false, true}) {
    MadeTrace made;
    const std::uint32_t worker = made.worker(1, 0);
    FrameHeader head = frame_header(FrameType::chunk, worker);
    head.stream = 1;
    head.sequence = 1;
    const std::size_t at = made.bytes.size();
    made.frame(head, Bytes(60u << 20, 0));  // a decompression bomb: a few KB that become 60 MB of zeros
    if (header_lies) {
      std::memcpy(&head, made.bytes.data() + at, sizeof head);
      head.raw_bytes = 100;
      head.check = frame_check(head);
      std::memcpy(made.bytes.data() + at, &head, sizeof head);
    }
    made.close();
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    Seen seen;
    const Reading reading = show(trace, seen);
    CHECK(reading.damage.count == 1);
    CHECK(reading.whole.records == 0);
  }
}

TEST_CASE("frames larger than allowed, or of unknown codec, are damage") {
  for (const int what : {0, 1}) {
    MadeTrace made;
    const std::uint32_t worker = made.worker(1, 0);
    const auto offsets = ten_chunks(made, worker);
    FrameHeader head;
    std::memcpy(&head, made.bytes.data() + offsets[2], sizeof head);
    if (what == 0) head.raw_bytes = kMaxRawFrame + 1;
    if (what == 1) head.codec = static_cast<Codec>(9);
    head.check = frame_check(head);
    std::memcpy(made.bytes.data() + offsets[2], &head, sizeof head);
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    Seen seen;
    const Reading reading = show(trace, seen);
    CHECK(trace.damage.count + reading.damage.count == 1);
    CHECK(seen.spans.size() == 9);
    CHECK(reading.gaps == 1);
  }
}

TEST_CASE("raw frames are read like compressed ones, and their records checked") {
  MadeTrace made;
  made.codec = Codec::raw;
  const std::uint32_t worker = made.worker(1, 0);
  const auto offsets = ten_chunks(made, worker);
  made.bytes[offsets[3] + sizeof(FrameHeader)] = 250;  // no such record kind
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  const Reading reading = show(trace, seen);
  CHECK(seen.spans.size() == 9);
  CHECK(reading.damage.count == 1);
  CHECK(reading.gaps == 1);
}

TEST_CASE("a file that is still being written is read as far as it goes") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  span<Kind::fetch>(thread, 1, 2, 0, 0, 0);
  thread.flush();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  CHECK(trace.truncated());
  CHECK_FALSE(trace.cut_off.has_value());
  CHECK(trace.damage.count == 0);
  CHECK(seen.spans.size() == 1);
}

TEST_CASE("a file that becomes shorter while it is read does no harm") {
  MadeTrace made;
  ten_chunks(made, made.worker(1, 0));
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  const TemporaryFile empty(Bytes{});
  REQUIRE(::truncate(file.path().c_str(), 2000) == 0);
  Seen seen;
  show(trace, seen);
  CHECK(seen.spans.size() < 10);
}

TEST_CASE("a damaged clock falls back to the nominal rate") {
  MadeTrace made;
  made.clock({at(100), 5});                                          // the realtime clock stepped back
  made.clock({at(200), static_cast<std::uint64_t>(INT64_MAX) + 5});  // not a valid time
  const TemporaryFile file(made.bytes);
  const Trace trace(file.path());
  CHECK(trace.clock.ns_per_tick() == 1);
  CHECK(trace.clock.ns(at(50)) == realtime(50));
}

TEST_CASE("a TSC is calibrated by the earliest and the latest pair") {
  TraceWriter made({1000, kRealtime}, ClockSource::tsc, 4);
  made.clock({2'001'000, kRealtime + 10'000'000});
  made.clock({1'001'000, kRealtime + 5'001'000});  // slewed, not set
  const TemporaryFile file(made.bytes);
  const Trace trace(file.path());
  CHECK(trace.clock.ns_per_tick() == doctest::Approx(5));
  CHECK(trace.clock.calibrated());
  CHECK(trace.clock.ns(1000 + 7) == static_cast<std::int64_t>(kRealtime) + 35);
  CHECK(trace.clock.ns(1000 - 2) == static_cast<std::int64_t>(kRealtime) - 10);
  TraceWriter alone({1000, kRealtime}, ClockSource::tsc, 4);
  const TemporaryFile single(alone.bytes);
  CHECK_FALSE(Trace(single.path()).clock.calibrated());
}
