// Perfetto's own format: what a file says, byte by byte where it is ours to choose.
#include <doctest/doctest.h>

#include <string>

#include "timeline/held_slices.hpp"
#include "timeline/protobuf.hpp"

using namespace lotus::analyzer;

TEST_CASE("protobuf: tags, varints, lengths") {
  std::string out;
  ProtoWriter writer(out);
  writer.number(1, 150);
  CHECK(out == "\x08\x96\x01");
  out.clear();
  writer.text(2, "testing");
  CHECK(out == "\x12\x07testing");
  out.clear();
  writer.number(16, 0);
  CHECK(out == std::string("\x80\x01\x00", 3));
  out.clear();
  writer.fixed64(1, 0x0102);
  CHECK(out == std::string("\x09\x02\x01\0\0\0\0\0\0", 9));
  out.clear();
  writer.number(1, static_cast<std::uint64_t>(-1));
  CHECK(out == "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  out.clear();
  writer.real(1, 1.0);
  CHECK(out == std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
}

TEST_CASE("protobuf: a message inside a message, also a long one") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{127}, std::size_t{128}, std::size_t{20'000}}) {
    std::string out = "before";
    ProtoWriter writer(out);
    writer.message(3, [&] { writer.text(1, std::string(size, 'x')); });
    std::string inner;
    ProtoWriter(inner).text(1, std::string(size, 'x'));
    std::string expected = "before";
    ProtoWriter(expected).text(3, inner);
    CHECK(out == expected);
  }
}

TEST_CASE("slices that begin together are written outermost first") {
  HeldSlices held;
  // depth 2 begins with depth 1, which begins with depth 0; a second child of depth 1 begins later.
  CHECK(held.ended(2, 10, 10, "b2 ", "e2 ").empty());
  CHECK(held.ended(2, 15, 10, "b3 ", "e3 ") == "b3 e3 ");
  CHECK(held.ended(1, 10, 10, "b1 ", "e1 ").empty());
  CHECK(held.ended(0, 10, HeldSlices::kNoParent, "b0 ", "e0 ") == "b0 b1 b2 e2 e1 e0 ");
  CHECK(held.rest().empty());
}

TEST_CASE("siblings of no length that begin with their parent keep their order") {
  HeldSlices held;
  CHECK(held.ended(1, 10, 10, "a", "A").empty());
  CHECK(held.ended(1, 10, 10, "b", "B").empty());
  CHECK(held.ended(0, 10, HeldSlices::kNoParent, "p", "P") == "paAbBP");
}

TEST_CASE("what waits for a parent whose end is lost is written all the same") {
  HeldSlices held;
  CHECK(held.ended(1, 10, 10, "a", "A").empty());
  CHECK(held.ended(0, 20, HeldSlices::kNoParent, "p", "P") == "aApP");
  CHECK(held.ended(1, 30, 30, "b", "B").empty());
  CHECK(held.ended(1, 40, 40, "c", "C") == "bB");
  CHECK(held.ended(3, 50, 50, "d", "D").empty());
  CHECK(held.rest() == "cCdD");
}

TEST_CASE("spans that never end, outermost first") {
  HeldSlices held;
  CHECK(held.ended(2, 10, 10, "c", "C").empty());
  CHECK(held.never_ended(0, 5, "p") == "p");
  CHECK(held.never_ended(1, 10, "q") == "qcC");
  CHECK(held.rest().empty());
}
