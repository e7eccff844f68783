// `redact`: private names are gone, and everything else is unchanged.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "care/redact/redactor.hpp"
#include "made_trace.hpp"
#include "reading/trace/frames.hpp"
#include "text/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

// A part of all private names; names of operations, functions and libraries do not contain it.
constexpr const char* kSecret = "s3cret";

Bytes run() {
  MadeTrace made;
  made.define<Kind::process>(1, at(0), 100, 1, "3.11.2", "s3cret", "python3 s3cret.py --password s3cret",
                             "/home/s3cret/work", "s3cret-host", 8, 20000, "2.6.0");
  made.loader(1, 1);
  made.iterator(1, 1);
  const std::uint32_t worker = made.worker(1, 0);
  made.define<Kind::thread>(worker, at(0), 1, 101, "s3cret");
  made.define<Kind::op_def>(worker, at(0), 1, OpRole::loader, "Loader", "module.load", "/home/s3cret/load.py",
                            7);
  made.define<Kind::module>(worker, at(0), 1, 4096, 8192, 0, "/opt/s3cret/lib/libjpeg.so.62", "0123abcd");
  made.define<Kind::code>(worker, at(0), 2, "load", "/home/s3cret/load.py", 7);
  made.define<Kind::hook>(worker, at(0), 1, "jpeg_read_header", "/opt/s3cret/lib/libjpeg.so.62");
  made.define<Kind::binary>(0, at(0), 1, "/opt/s3cret/lib/libjpeg.so.62", "0123abcd");
  made.define<Kind::function>(0, at(0), 1, "decode_mcu", 1, "/build/s3cret/jdhuff.c", 12, NameSource::dwarf);
  ThreadWriter thread(made, worker, 1);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto t = static_cast<double>(i);
    thread.record<Kind::fetch>(at(t), 0, 0, i);
    thread.record<Kind::sample>(at(t + 0.1), static_cast<std::int64_t>(i) - 1);
    thread.path(at(t + 0.2), "/data/s3cret/patient" + std::to_string(i / 2) + ".jpeg");
    span<Kind::op>(thread, t + 0.3, t + 0.4, 1);
    thread.record<Kind::leave>(at(t + 0.5));
    thread.record<Kind::leave>(at(t + 0.6));
  }
  thread.flush();
  made.close();
  return made.bytes;
}

std::unique_ptr<TemporaryFile> redacted(const Bytes& bytes, const std::string& key = "key",
                                        std::uint64_t dropped = 0) {
  const TemporaryFile before(bytes);
  auto after = std::make_unique<TemporaryFile>(Bytes{}, ".redacted.lotus");
  const Trace trace(before.path());
  Hasher hasher(key);
  Output out(after->path());
  const Redacted done = Redactor(trace, hasher, out).run();
  out.close();
  CHECK(done.dropped_frames == dropped);
  return after;
}

// The decompressed bodies of all frames, concatenated.
std::string unpacked(const std::string& path) {
  const Source source(path);
  FrameCursor cursor(source, sizeof(FileHeader));
  PayloadReader payload(source);
  Frame frame;
  std::string all;
  while (cursor.next(frame)) {
    std::span<const std::uint8_t> body;
    REQUIRE(payload.read(frame, body));
    all.append(reinterpret_cast<const char*>(body.data()), body.size());
  }
  return all;
}

class Paths : public Visitor {
 public:
  void on_span(const Span& span) override {
    if (span.kind() == Kind::sample) paths.push_back(span.stream.sample_path);
  }
  std::vector<std::string> paths;
};

std::vector<std::string> paths_in(const std::string& file) {
  Trace trace(file);
  Paths visitor;
  show(trace, visitor);
  return visitor.paths;
}

}  // namespace

TEST_CASE("HMAC-SHA-256 is the published one") {
  // RFC 4231, test cases 1, 2 and 6: the first 6 bytes.
  CHECK(Hasher(std::string(20, '\x0b')).text("Hi There") == "b0344c61d8db");
  CHECK(Hasher("Jefe").text("what do ya want for nothing?") == "5bdcc146bf60");
  CHECK(Hasher(std::string(131, '\xaa')).text("Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0");
}

TEST_CASE("no secret is in the copy, and all that reports need is") {
  const auto file = redacted(run());
  const std::string all = unpacked(file->path());
  CHECK(all.find(kSecret) == std::string::npos);
  CHECK(all.find("patient") == std::string::npos);
  CHECK(all.find("password") == std::string::npos);
  CHECK(unpacked(TemporaryFile(run()).path()).find(kSecret) != std::string::npos);  // unredacted, it is there
  for (const char* kept : {"Loader", "module.load", "decode_mcu", "libjpeg.so.62", "0123abcd", "3.11.2",
                           "2.6.0", "jpeg_read_header"})
    CHECK_MESSAGE(all.find(kept) != std::string::npos, kept);
}

TEST_CASE("times, events and structure are the same") {
  const TemporaryFile before(run());
  const auto after = redacted(run());
  Trace one(before.path());
  Trace two(after->path());
  Seen first;
  Seen second;
  CHECK(show(one, first).whole.records == show(two, second).whole.records);
  REQUIRE(first.spans.size() == second.spans.size());
  for (std::size_t i = 0; i < first.spans.size(); ++i) {
    CHECK(first.spans[i].start == second.spans[i].start);
    CHECK(first.spans[i].ms == second.spans[i].ms);
    CHECK(first.spans[i].op == second.spans[i].op);
    CHECK(first.spans[i].kind == second.spans[i].kind);
  }
  CHECK(two.trailer.has_value());
}

TEST_CASE("the same path has the same hash, other paths others; directories and suffixes show") {
  const auto file = redacted(run());
  const auto paths = paths_in(file->path());
  REQUIRE(paths.size() == 10);
  CHECK(std::set<std::string>(paths.begin(), paths.end()).size() == 5);
  CHECK(paths[0] == paths[1]);
  CHECK(paths == paths_in(redacted(run())->path()));
  CHECK(paths != paths_in(redacted(run(), "another key")->path()));
  Hasher hasher("key");
  CHECK(paths[0] ==
        "/" + hasher.text("data") + "/" + hasher.text("s3cret") + "/" + hasher.text("patient0") + ".jpeg");
  CHECK(hasher.path("/a/b.s3cret").find("s3cret") == std::string::npos);  // an unknown suffix is hashed, too
  CHECK(hasher.path("") == "");
  CHECK(hasher.path("/") == "/");
  CHECK(hasher.library("[vdso]") == "[vdso]");
}

TEST_CASE("somebody decided about every text that can be recorded") {
  for (const KindInfo& row : kKinds) {
    const FieldList fields = parse_fields(row.fields);
    for (std::size_t i = 0; i < fields.count; ++i)
      if (fields.types[i] == 's')
        CHECK_MESSAGE(policy_of(row.name, fields.names[i]).listed, std::string(fields.names[i]));
  }
  CHECK(policy_of("letter", "content").redaction == Redaction::text);
}

TEST_CASE("texts of record kinds that are not known are hashed") {
  MadeTrace made;
  const std::string schema =
      "200 definition letter content:s\n8 enter fetch iterator:u reset:u batch:u\n1 leave leave\n";
  made.frame(frame_header(FrameType::schema, 0), Bytes(schema.begin(), schema.end()));
  Bytes body{200, 0, 6};
  for (const char* c = kSecret; *c != '\0'; ++c) body.push_back(static_cast<std::uint8_t>(*c));
  made.frame(frame_header(FrameType::definitions, 1), body);
  made.close();
  // Three frames hold definitions of kinds that are not in the file's schema.
  CHECK(unpacked(redacted(made.bytes, "key", 3)->path()).find(kSecret) == std::string::npos);
}

TEST_CASE("damaged frames and those of unknown types are left out") {
  MadeTrace made;
  made.frame(frame_header(static_cast<FrameType>(77), 1), Bytes{'s', '3', 'c', 'r', 'e', 't'});
  made.define<Kind::op_def>(1, at(0), 1, OpRole::loader, "Loader", "q", "s3cret", 7);
  made.bytes[made.bytes.size() - 3] ^= 0xff;
  made.close();
  const TemporaryFile before(made.bytes);
  const TemporaryFile after(Bytes{}, ".redacted.lotus");
  const Trace trace(before.path());
  Hasher hasher("key");
  Output out(after.path());
  const Redacted done = Redactor(trace, hasher, out).run();
  out.close();
  CHECK(done.dropped_frames == 2);
  CHECK(unpacked(after.path()).find(kSecret) == std::string::npos);
}

TEST_CASE("a key of one's own is made once, private and random") {
  char place[] = "/tmp/lotus-test-XXXXXX";
  REQUIRE(mkdtemp(place) != nullptr);
  setenv("XDG_CONFIG_HOME", place, 1);
  const std::string key = read_key("");
  CHECK(key.size() == 32);
  CHECK(read_key("") == key);
  const std::string file = std::string(place) + "/lotus/redact.key";
  struct stat status {};
  REQUIRE(stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(chmod(file.c_str(), 0644) == 0);
  CHECK_THROWS_AS(read_key(""), Unusable);
  CHECK(read_key(file) == key);  // allowed for a file that the user names
  std::filesystem::remove(file);
  CHECK(read_key("") != key);
  CHECK_THROWS_AS(read_key(std::string(place) + "/absent"), Unusable);
  CHECK_THROWS_AS(read_key(place), Unusable);
  unsetenv("XDG_CONFIG_HOME");
  std::filesystem::remove_all(place);
}
