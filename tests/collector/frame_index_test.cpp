// The index of a trace that has more frames than are kept in memory.
#include "frame_index.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "output_file.hpp"
#include "support/temporary.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::collector;
using namespace lotus::test;

namespace {

constexpr std::size_t kMany = kIndexBlock * 5 / 2;
constexpr std::size_t kAtOnce = 777;

IndexEntry numbered(std::uint64_t number) { return {number, 2 * number, 0, 0, 0, FrameType::clock, {}}; }

void append_numbers(FrameIndex& index, std::uint64_t begin, std::uint64_t end) {
  for (std::vector<IndexEntry> some; begin < end; some.clear()) {
    while (begin < end && some.size() < kAtOnce) some.push_back(numbered(begin++));
    index.append(some);
  }
}

// Whether the index gives exactly the numbers from 0 to `end` - 1, in order.
bool counts_to(const FrameIndex& index, std::uint64_t end) {
  std::uint64_t next = 0;
  bool right = true;
  const bool read = index.visit([&](std::span<const IndexEntry> entries) {
    right = right && !entries.empty() && entries.size() <= kIndexBlock;
    for (const IndexEntry& entry : entries) right = right && entry.offset == next++;
  });
  return read && right && next == end;
}

FileHeader identity() {
  FileHeader header{};
  std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
  header.version = kTraceVersion;
  header.header_bytes = sizeof header;
  header.session_pid = 1;
  return header;
}

}  // namespace

TEST_CASE("an index holds one block in memory, and gives all") {
  const TemporaryDirectory directory;
  FrameIndex index({}, directory / "x.lotus");
  append_numbers(index, 0, kMany);
  CHECK(index.entries_in_memory() < kIndexBlock);
  CHECK(counts_to(index, kMany));
  append_numbers(index, kMany, 2 * kMany);
  CHECK(counts_to(index, 2 * kMany));
  CHECK(list(directory.path()).empty());
}

TEST_CASE("an index that begins with many entries spills them, too") {
  const TemporaryDirectory directory;
  std::vector<IndexEntry> known;
  for (std::uint64_t i = 0; i < kMany; ++i) known.push_back(numbered(i));
  FrameIndex index(std::move(known), directory / "x.lotus");
  CHECK(index.entries_in_memory() < kIndexBlock);
  append_numbers(index, kMany, kMany + 10);
  CHECK(counts_to(index, kMany + 10));
}

TEST_CASE("where no file can be made, all stays in memory") {
  FrameIndex index({}, "/proc/self/x.lotus");
  append_numbers(index, 0, kMany);
  CHECK(index.entries_in_memory() == kMany);
  CHECK(counts_to(index, kMany));
}

TEST_CASE("a trace of many frames has an index of all of them, also when it is continued") {
  const TemporaryDirectory directory;
  Log log(directory / "log", Log::Where::nowhere, false);
  for (int round = 0; round < 2; ++round) {
    Packer packer;
    OpenedOutput opened = open_output(directory / "x.lotus", identity(), log);
    REQUIRE(opened.file);
    if (round == 0)
      opened.file->add_packed(frame_header(FrameType::schema, 0), bytes_of(ClockPair{}), packer);
    for (std::size_t i = 0; i < kMany; ++i) {
      opened.file->add_raw(frame_header(FrameType::clock, 0), bytes_of(ClockPair{}));
      if (i % kAtOnce == 0) REQUIRE(opened.file->write_batch());
    }
    opened.file->add_index_and_trailer({}, packer);
    REQUIRE(opened.file->write_batch());
    const Trace trace = read_trace(directory / "x.lotus");
    CHECK(what_is_wrong(trace) == "");
    CHECK(trace.count(FrameType::clock) == (static_cast<std::size_t>(round) + 1) * kMany);
    CHECK(trace.count(FrameType::index) > 1);
  }
}
