// The path of a trace if its file exists already.
#include "output_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "support/temporary.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::collector;
using namespace lotus::test;

namespace {

FileHeader identity(std::uint32_t session) {
  FileHeader header{};
  std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
  header.version = kTraceVersion;
  header.header_bytes = sizeof header;
  header.session_pid = session;
  header.session_start_time = 99;
  return header;
}

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

struct Place {
  TemporaryDirectory directory;
  std::string path = directory / "x.lotus";
  std::string told = directory / "log";
  Log log{told, Log::Where::nowhere, false};

  OpenedOutput open(std::uint32_t session) { return open_output(path, identity(session), log); }
  // A finished trace of `session` with one frame.
  void make_trace(std::uint32_t session) {
    Packer packer;
    OpenedOutput opened = open(session);
    REQUIRE(opened.file);
    opened.file->add_packed(frame_header(FrameType::schema, 0), bytes_of("schema"), packer);
    REQUIRE(opened.file->write_batch());
    opened.file->add_index_and_trailer({}, packer);
    REQUIRE(opened.file->write_batch());
  }
};

}  // namespace

TEST_CASE("a new file is private and begins with its header") {
  Place place;
  place.make_trace(1);
  struct stat status {};
  REQUIRE(stat(place.path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  const Trace trace = read_trace(place.path);
  CHECK(trace.problem == "");
  CHECK(trace.header.session_pid == 1);
  CHECK(trace.frames.size() == 3);
}

TEST_CASE("an empty file is used") {
  Place place;
  write_text(place.path, "");
  place.make_trace(1);
  CHECK(read_trace(place.path).frames.size() == 3);
}

TEST_CASE("a trace of the same session is continued without its index, trailer and half frame") {
  Place place;
  place.make_trace(1);
  const std::string whole = read_text(place.path);
  const std::uint64_t kept = read_trace(place.path).frames[1].offset;
  for (std::size_t more = 0; more < whole.size() - kept; ++more) {
    CAPTURE(more);
    write_text(place.path, whole + whole.substr(kept, more));
    const OpenedOutput opened = place.open(1);
    REQUIRE(opened.file);
    REQUIRE(opened.continued);
    CHECK(opened.file->bytes() == kept);
    CHECK(read_text(place.path).size() == kept);
  }
}

TEST_CASE("a trace that was cut at any byte is continued behind its last whole frame") {
  Place place;
  place.make_trace(1);
  const std::string whole = read_text(place.path);
  const std::uint64_t kept = read_trace(place.path).frames[1].offset;
  for (std::size_t size = sizeof(FileHeader); size <= whole.size(); ++size) {
    CAPTURE(size);
    write_text(place.path, whole.substr(0, size));
    const OpenedOutput opened = place.open(1);
    REQUIRE(opened.file);
    CHECK(opened.file->bytes() == (size < kept ? sizeof(FileHeader) : kept));
  }
}

TEST_CASE("damage between frames is stepped over and left as it is") {
  Place place;
  Packer packer;
  {
    OpenedOutput opened = place.open(1);
    for (const char* body : {"first", "second", "third"}) {
      FrameHeader header = frame_header(FrameType::chunk, 1);
      header.stream = 1;
      header.sequence = static_cast<unsigned char>(body[0]);
      opened.file->add_packed(header, bytes_of(body), packer);
    }
    REQUIRE(opened.file->write_batch());
  }
  std::string bytes = read_text(place.path);
  const Trace before = read_trace(place.path);
  bytes[before.frames[1].offset] ^= 1;
  write_text(place.path, bytes);
  const OpenedOutput opened = place.open(1);
  REQUIRE(opened.file);
  CHECK(opened.continued->index.size() == 2);
  CHECK(opened.continued->damaged_bytes == before.frames[2].offset - before.frames[1].offset);
  CHECK(opened.file->bytes() == bytes.size());
  CHECK(read_text(place.told).find("bytes between its frames are damaged") != std::string::npos);
}

TEST_CASE("definitions that unpack to more than a collector writes are left out") {
  Place place;
  constexpr std::size_t kFrames = 48, kFrame = std::size_t{4} << 20;
  {
    Packer packer;
    OpenedOutput opened = place.open(1);
    const std::vector<std::uint8_t> large(kFrame), larger(kFrame + 1);
    opened.file->add_packed(frame_header(FrameType::definitions, 2), larger, packer);
    for (std::size_t i = 0; i < kFrames; ++i)
      opened.file->add_packed(frame_header(FrameType::definitions, 1), large, packer);
    REQUIRE(opened.file->write_batch());
  }
  const OpenedOutput opened = place.open(1);
  REQUIRE(opened.continued);
  CHECK(opened.continued->index.size() == 1 + kFrames);
  CHECK(opened.continued->processes.at(2).definitions.empty());
  CHECK(opened.continued->processes.at(1).definitions.size() == (std::size_t{128} << 20) / kFrame);
}

TEST_CASE("a trace of another session becomes .old, and replaces an older .old") {
  Place place;
  for (const std::uint32_t session : {1u, 2u, 3u}) place.make_trace(session);
  CHECK(read_trace(place.path).header.session_pid == 3);
  CHECK(read_trace(place.path + ".old").header.session_pid == 2);
  CHECK(read_text(place.told).find(place.path + ".old") != std::string::npos);
}

TEST_CASE("a trace of a newer version becomes .old unread") {
  Place place;
  place.make_trace(1);
  std::string bytes = read_text(place.path);
  bytes[8] = 99;
  write_text(place.path, bytes);
  place.make_trace(1);
  CHECK(read_text(place.path + ".old") == bytes);
  CHECK(read_trace(place.path).problem == "");
}

TEST_CASE("files that are not Lotus' are never touched") {
  for (const char* text : {"x", "precious", "LOTUS is a flower, and this is a poem about it"}) {
    Place place;
    write_text(place.path, text);
    write_text(place.path + ".1", text);
    place.make_trace(1);
    CHECK(read_text(place.path) == text);
    CHECK(read_text(place.path + ".1") == text);
    CHECK(read_trace(place.path + ".2").frames.size() == 3);
    CHECK(read_text(place.told).find("the trace goes to " + place.path + ".2") != std::string::npos);
    const OpenedOutput again = place.open(1);  // finds its numbered file again
    CHECK(again.continued);
    CHECK(again.file->path() == place.path + ".2");
  }
}

TEST_CASE("symlinks, directories and pipes are not written through") {
  Place place;
  const std::string target = place.directory / "target";
  write_text(target, "");
  REQUIRE(symlink(target.c_str(), place.path.c_str()) == 0);
  place.make_trace(1);
  CHECK(read_text(target).empty());
  CHECK(read_trace(place.path + ".1").frames.size() == 3);

  Place other;
  REQUIRE(mkdir(other.path.c_str(), 0700) == 0);
  REQUIRE(mkfifo((other.path + ".1").c_str(), 0600) == 0);
  other.make_trace(1);
  CHECK(read_trace(other.path + ".2").frames.size() == 3);
}

TEST_CASE("a foreign .old is not overwritten") {
  Place place;
  place.make_trace(1);
  write_text(place.path + ".old", "precious");
  place.make_trace(2);
  CHECK(read_text(place.path + ".old") == "precious");
  CHECK(read_trace(place.path).header.session_pid == 1);
  CHECK(read_trace(place.path + ".1").header.session_pid == 2);
}

TEST_CASE("a trace that is being written is not taken away, not even by its own session") {
  Place place;
  const OpenedOutput writing = place.open(1);
  REQUIRE(writing.file);
  for (const std::uint32_t session : {1u, 2u}) {
    CAPTURE(session);
    const OpenedOutput other = place.open(session);
    REQUIRE(other.file);
    CHECK(other.file->path() == place.path + ".1");
    CHECK(unlink(other.file->path().c_str()) == 0);
  }
}

TEST_CASE("errors name what failed") {
  Place place;
  place.path = place.directory / "missing/x.lotus";
  CHECK(place.open(1).error == ENOENT);
  place.path = "/proc/x.lotus";
  CHECK_FALSE(place.open(1).file);
  place.path = place.directory.path() + "/" + std::string(300, 'x');
  CHECK(place.open(1).error == ENAMETOOLONG);
}

TEST_CASE("a trace whose header is damaged is set aside, not continued") {
  for (const auto damage : {+[](FileHeader& header) { header.header_bytes = 0x80000040; },
                            +[](FileHeader& header) { header.header_bytes = 100'000; },
                            +[](FileHeader& header) { header.tick_shift = 9; },
                            +[](FileHeader& header) { header.clock_source = ClockSource{7}; }}) {
    Place place;
    place.make_trace(1);
    const std::string whole = read_text(place.path);
    FileHeader header;
    std::memcpy(&header, whole.data(), sizeof header);
    damage(header);
    std::string damaged = whole;
    std::memcpy(damaged.data(), &header, sizeof header);
    write_text(place.path, damaged);
    place.make_trace(1);
    CHECK(read_text(place.path) == whole);
    CHECK(read_text(place.path + ".old") == damaged);
  }
}
