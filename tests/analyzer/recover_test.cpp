// `recover`: damaged traces become complete ones, and lost records are reported and counted.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "care/recover/account.hpp"
#include "made_trace.hpp"
#include "text/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

constexpr std::uint64_t kFetches = 40;  // per stream
constexpr std::uint64_t kPerChunk = 4;  // fetches per chunk
constexpr std::uint64_t kRecords = 2;   // per fetch

struct Piece {
  std::size_t begin, end;
  FrameHeader header;
};

std::vector<Piece> frames_of(const Bytes& bytes) {
  std::vector<Piece> pieces;
  for (std::size_t at = sizeof(FileHeader); at + sizeof(FrameHeader) <= bytes.size();) {
    Piece piece{at, 0, {}};
    std::memcpy(&piece.header, bytes.data() + at, sizeof piece.header);
    at = piece.end = at + sizeof(FrameHeader) + piece.header.stored_bytes;
    pieces.push_back(piece);
  }
  return pieces;
}

// A training process and two workers with ten chunks each, with or without an index as a collector writes it.
Bytes run(bool with_index = true) {
  MadeTrace made;
  made.loader(1, 2);
  made.iterator(1, 1);
  std::vector<std::uint32_t> workers{made.worker(1, 0), made.worker(1, 1)};
  for (const std::uint32_t worker : workers) made.op(worker, 1, OpRole::loader, "Loader");
  ThreadWriter first(made, workers[0], 1);
  ThreadWriter second(made, workers[1], 1);
  for (std::uint64_t i = 0; i < kFetches; ++i) {
    const auto t = static_cast<double>(i);
    span<Kind::fetch>(first, t, t + 0.5, 0, 0, 2 * i);
    span<Kind::fetch>(second, t, t + 0.5, 0, 0, 2 * i + 1);
    if (i % kPerChunk == kPerChunk - 1) first.flush();
    if (i % kPerChunk == kPerChunk - 1) second.flush();
  }
  for (std::uint32_t number = 1; number <= 3; ++number) {
    ProcessEndFrame end{};
    end.seen = pair_at(100);
    made.process_end(number, end);
  }
  if (with_index) {
    Bytes body;
    for (const Piece& piece : frames_of(made.bytes))
      append(body, IndexEntry{piece.begin,
                              piece.header.base_ticks,
                              piece.header.process,
                              piece.header.stream,
                              piece.header.events,
                              piece.header.type,
                              {}});
    made.frame(frame_header(FrameType::index, 0), body);
  }
  made.trailer(pair_at(101));
  return made.bytes;
}

struct Recovered {
  nlohmann::ordered_json account;
  std::unique_ptr<TemporaryFile> file;
  std::uint64_t fetches = 0;
  Reading reading;
  std::uint64_t lost = 0;

  std::uint64_t gone() const { return account["gone"]["events"]; }
};

// Recovers the trace, and checks that the result is complete and agrees with the account.
Recovered recover(const Bytes& damaged) {
  const TemporaryFile before(damaged);
  Recovered result;
  result.file = std::make_unique<TemporaryFile>(Bytes{}, ".recovered.lotus");
  const Source source(before.path());
  const Contents contents(source);
  Output out(result.file->path());
  const Rebuilt rebuilt = write_recovered(source, contents, out);
  out.close();
  result.account = account_json(source, result.file->path(), contents, rebuilt);
  CHECK_FALSE(account_text(result.account).empty());
  Trace trace(result.file->path());
  CHECK_FALSE(trace.truncated());
  CHECK(trace.damage.count == 0);
  CHECK(trace.source.size() == rebuilt.bytes);
  Seen seen;
  result.reading = show(trace, seen);
  CHECK(result.reading.damage.count == 0);
  CHECK(result.reading.whole.records == rebuilt.events);
  CHECK(trace.trailer->events == rebuilt.events);
  for (const auto& found : seen.spans) result.fetches += found.kind == Kind::fetch;
  result.lost = trace.lost_events();
  CHECK(trace.trailer->lost_events == result.lost);
  return result;
}

void scribble(Bytes& bytes, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ 0xa5);
}

// The chunk of a process with this sequence number.
Piece chunk_of(const Bytes& bytes, std::uint32_t process, std::uint64_t sequence) {
  for (const Piece& piece : frames_of(bytes))
    if (piece.header.type == FrameType::chunk && piece.header.process == process &&
        piece.header.sequence == sequence)
      return piece;
  FAIL("no such chunk");
  return {};
}

constexpr std::uint64_t kAll = 2 * kFetches * kRecords;

}  // namespace

TEST_CASE("a trace that is whole stays as it is") {
  const Recovered result = recover(run());
  CHECK(result.fetches == 2 * kFetches);
  CHECK(result.gone() == 0);
  CHECK(result.account["gone"]["spans"].empty());
  CHECK(result.account["gone"]["ranges"] == 0);
  CHECK(result.account["recovered"]["made_anew"].empty());
  CHECK(account_text(result.account).find("nothing is gone") != std::string::npos);
}

TEST_CASE("damaged in the middle: what the index promised and is not there is counted, with its time") {
  Bytes bytes = run();
  const Piece gone = chunk_of(bytes, 2, 5);
  scribble(bytes, gone.begin, gone.end);
  const Recovered result = recover(bytes);
  CHECK(result.gone() == kPerChunk * kRecords);
  CHECK(result.lost == kPerChunk * kRecords);
  CHECK(result.reading.lost_records == kPerChunk * kRecords);
  CHECK(result.fetches == 2 * kFetches - kPerChunk);
  const auto& spans = result.account["gone"]["spans"];
  REQUIRE(spans.size() == 1);
  CHECK(spans[0]["pid"] == 101);
  CHECK(spans[0]["chunks"] == 1);
  CHECK(spans[0]["counted"] == true);
  CHECK(spans[0]["from_s"].get<double>() == doctest::Approx(0.0155));
  CHECK(spans[0]["to_s"].get<double>() == doctest::Approx(0.020));
  const auto& ranges = result.account["gone"]["first_ranges"];
  REQUIRE(ranges.size() == 1);
  CHECK(ranges[0]["offset"] == gone.begin);
  CHECK(ranges[0]["bytes"] == gone.end - gone.begin);
}

TEST_CASE("a damaged payload is known by its header, without an index too") {
  for (const bool with_index : {true, false}) {
    Bytes bytes = run(with_index);
    const Piece gone = chunk_of(bytes, 3, 2);
    scribble(bytes, gone.begin + sizeof(FrameHeader), gone.end);
    const Recovered result = recover(bytes);
    CHECK(result.gone() == kPerChunk * kRecords);
    CHECK(result.lost == kPerChunk * kRecords);
    CHECK(result.account["gone"]["spans"].size() == 1);
  }
}

TEST_CASE(
    "without an index the numbers of the chunks tell that some are missing, but not of how many events") {
  Bytes bytes = run(false);
  const Piece gone = chunk_of(bytes, 2, 5);
  scribble(bytes, gone.begin, gone.end);
  const Recovered result = recover(bytes);
  CHECK(result.gone() == 0);
  CHECK(result.reading.gaps == 1);
  const auto& spans = result.account["gone"]["spans"];
  REQUIRE(spans.size() == 1);
  CHECK(spans[0]["counted"] == false);
  CHECK(spans[0]["chunks"] == 1);
  CHECK(account_text(result.account).find("nobody knows how many in 1 chunk") != std::string::npos);
  CHECK(result.account["recovered"]["made_anew"] == nlohmann::ordered_json{"index"});
}

TEST_CASE("damaged at the head: the file header and the schema are made anew") {
  for (const std::size_t until : {std::size_t{8}, sizeof(FileHeader), std::size_t{100}}) {
    CAPTURE(until);
    Bytes bytes = run();
    scribble(bytes, 0, until);
    const TemporaryFile file(bytes);
    CHECK_THROWS_AS(Trace(file.path()), Unusable);
    const Recovered result = recover(bytes);
    CHECK(result.fetches == 2 * kFetches);
    CHECK(result.gone() == 0);
    const Trace trace(result.file->path());
    CHECK(trace.clock.ns_per_tick() == doctest::Approx(1));
    CHECK(trace.clock.source() == ClockSource::monotonic);
    CHECK(trace.header.created.ticks <= at(1));
    CHECK(result.account["recovered"]["made_anew"].size() == (until > sizeof(FileHeader) ? 2 : 1));
  }
}

TEST_CASE("the head is missing: everything up to somewhere in a frame") {
  Bytes bytes = run();
  const Piece within = chunk_of(bytes, 2, 1);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(within.begin + 10));
  const Recovered result = recover(bytes);
  CHECK(result.fetches == 2 * kFetches - kPerChunk);
  CHECK(result.gone() == kPerChunk * kRecords);
  CHECK(result.account["gone"]["processes"].size() == 3);  // their process frames
  CHECK(result.account["gone"]["definitions"].size() >= 2);
  const Trace trace(result.file->path());
  CHECK(trace.catalog.processes().size() == 3);
}

TEST_CASE("cut off at any byte: never less than what a reader of the cut file sees") {
  const Bytes whole = run();
  const std::size_t least = frames_of(whole).front().end;  // a shorter file has nothing to recover
  std::uint64_t most = 0;
  for (std::size_t cut = whole.size(); cut >= least; cut -= std::min<std::size_t>(cut, 37)) {
    CAPTURE(cut);
    const Recovered result = recover(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)));
    const TemporaryFile file(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)));
    Trace trace(file.path());
    Seen seen;
    CHECK(show(trace, seen).whole.records == result.reading.whole.records);
    CHECK(result.account["gone"]["end_unknown"] == (cut < whole.size()));
    most = std::max(most, result.fetches);
  }
  CHECK(most == 2 * kFetches);
}

TEST_CASE("bytes that were taken out or put in do not confuse what the index says") {
  for (const bool taken : {true, false}) {
    Bytes bytes = run();
    const Piece piece = chunk_of(bytes, 2, 3);
    const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(piece.begin + sizeof(FrameHeader) + 5);
    if (taken)
      bytes.erase(middle, middle + 11);
    else
      bytes.insert(middle, 1000, 0x4c);
    const Recovered result = recover(bytes);
    CHECK(result.gone() == kPerChunk * kRecords);
    CHECK(result.fetches == 2 * kFetches - kPerChunk);
  }
}

TEST_CASE("a missing trailer or index is made anew") {
  Bytes bytes = run();
  const auto pieces = frames_of(bytes);
  bytes.resize(pieces[pieces.size() - 2].begin);  // neither index nor trailer
  const Recovered result = recover(bytes);
  CHECK(result.fetches == 2 * kFetches);
  CHECK(result.account["recovered"]["made_anew"] == nlohmann::ordered_json{"index", "trailer"});
}

TEST_CASE("scribbled over at random: whole afterwards, and every event is there or gone") {
  const Bytes whole = run();
  const std::size_t index = frames_of(whole)[frames_of(whole).size() - 2].begin;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Bytes bytes = whole;
    for (std::uint64_t i = 0; i <= seed % 4; ++i) {
      const std::size_t from = random() % index;  // the index survives
      scribble(bytes, from, std::min<std::size_t>(index, from + 1 + random() % 200));
    }
    const Recovered result = recover(bytes);
    CHECK(result.account["recovered"]["events"].get<std::uint64_t>() + result.gone() == kAll);
  }
}

TEST_CASE(
    "one schema holds for all records, also for those before its frame: they are kept only if it knows "
    "them") {
  std::string text = FileSchema().text();
  const std::size_t row = text.find("enter fetch ");
  REQUIRE(row != std::string::npos);
  const std::size_t begin = text.rfind('\n', row) + 1;
  text.erase(begin, text.find('\n', row) + 1 - begin);
  MadeTrace made;
  made.bytes = run();
  made.frame(frame_header(FrameType::schema, 0), Bytes(text.begin(), text.end()));
  const Recovered result = recover(made.bytes);
  CHECK(result.fetches == 0);
  CHECK(result.gone() == kAll);
}

TEST_CASE("what holds nothing of a trace is refused") {
  for (const Bytes& bytes : {Bytes{}, Bytes(5000, 0x20), Bytes(63, 'L')}) {
    const TemporaryFile file(bytes);
    const Source source(file.path());
    CHECK_THROWS_AS(Contents{source}, Unusable);
  }
}
