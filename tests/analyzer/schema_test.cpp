// Files of other revisions: more fields, fewer fields, unknown kinds.
#include <doctest/doctest.h>

#include <lotus/schema_text.hpp>

#include "made_trace.hpp"
#include "reading/trace/schema.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

void append_schema(MadeTrace& made, const std::string& text) {
  made.frame(frame_header(FrameType::schema, 0), Bytes(text.begin(), text.end()));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

void append_chunk(MadeTrace& made, std::uint32_t process, const Bytes& body) {
  FrameHeader head = frame_header(FrameType::chunk, process);
  head.stream = 1;
  head.sequence = 1;
  head.base_ticks = at(0);
  made.frame(head, body);
}

}  // namespace

TEST_CASE("the built-in table survives its own text") {
  const FileSchema built_in;
  FileSchema read;
  REQUIRE(read.parse(built_in.text()));
  CHECK(read.text() == built_in.text());
  CHECK(read.exact(Kind::op));
  CHECK(read.fields(Kind::fetch) == std::vector<std::string>{"iterator", "reset", "batch"});
  CHECK(*read.find("path") == Kind::path);
  CHECK(read.find("nothing") == nullptr);
}

TEST_CASE("the text of the built-in table is the contract's, without units") {
  CHECK(FileSchema().text() == kSchemaText);
  CHECK(kSchemaText.find("\n36 point cpu ns:u\n") != std::string_view::npos);
}

TEST_CASE("a text without a single row changes nothing") {
  FileSchema schema;
  CHECK_FALSE(
      schema.parse("hello\n0 enter zero\n999 enter big\n5 sideways op def:u\n6 enter sample index:q\n"));
  CHECK(schema.exact(Kind::op));
}

TEST_CASE("fields appended later are skipped, unknown kinds too") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  made.op(worker, 1, OpRole::transform, "Crop");
  std::string text = FileSchema().text();
  text = replaced(text, "op def:u", "op def:u color:s weight:z");
  text += "200 enter novelty a:u b:s\n201 point hint x:z\n";
  append_schema(made, text);
  const std::uint8_t body[] = {
      5,   10, 1, 3, 'r', 'e', 'd', 7,  // op
      201, 1,  5,                       // hint
      200, 2,  9, 1, 'x',               // novelty
      1,   3,                           // leave novelty
      1,   4,                           // leave op
  };
  append_chunk(made, worker, Bytes(std::begin(body), std::end(body)));
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  CHECK(trace.schema.understood(Kind::op));
  CHECK_FALSE(trace.schema.exact(Kind::op));
  Seen seen;
  const Reading reading = show(trace, seen);
  CHECK(reading.damage.count == 0);
  REQUIRE(seen.spans.size() == 2);
  CHECK(seen.spans[0].kind == Kind{});
  CHECK(seen.spans[1].op == "Crop");
  CHECK(seen.spans[1].ms * 1e6 == doctest::Approx(10));
}

TEST_CASE("fields that an older file does not have read as zero") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  append_schema(made, replaced(FileSchema().text(), "fetch iterator:u reset:u batch:u", "fetch iterator:u"));
  const std::uint8_t body[] = {8, 10, 0, 1, 4};
  append_chunk(made, worker, Bytes(std::begin(body), std::end(body)));
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.batches.size() == 1);
  CHECK(seen.batches[0].key.batch == 0);
}

TEST_CASE("a code that means something else in the file does not get our meaning") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  append_schema(made, replaced(FileSchema().text(), "8 enter fetch iterator:u", "8 enter flight captain:u"));
  const std::uint8_t body[] = {8, 10, 0, 0, 0, 1, 4};
  append_chunk(made, worker, Bytes(std::begin(body), std::end(body)));
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  CHECK(seen.batches.empty());
  REQUIRE(seen.spans.size() == 1);
  CHECK(seen.spans[0].kind == Kind{});
}

TEST_CASE("without a schema frame the built-in table is used") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  span<Kind::fetch>(thread, 1, 2, 0, 0, 0);
  thread.flush();
  made.bytes[sizeof(FileHeader) + 30] ^= 1;  // in the schema frame's header
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  CHECK(seen.spans.size() == 1);
  CHECK(trace.damage.count == 1);
}
