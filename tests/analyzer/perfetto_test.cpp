// Perfetto's own format, byte by byte where the encoding is our choice.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "made_trace.hpp"
#include "showing/timeline/held_slices.hpp"
#include "showing/timeline/perfetto_file.hpp"

using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

// The bytes that `write` writes to a file, without the packet of clocks at its start.
template <class Write>
std::string packets(Write write) {
  const TemporaryFile target(Bytes{}, ".pftrace");
  Output out(target.path());
  PerfettoFile file(out, 0);
  write(file);
  out.close();
  std::ifstream in(target.path(), std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(in), {});
  const auto first = static_cast<std::size_t>(2 + all.at(1));
  return all.substr(first);
}

}  // namespace

TEST_CASE("a slice, byte by byte") {
  const std::string written = packets([](PerfettoFile& file) {
    PerfettoSlice slice;
    slice.track = 150;
    slice.start = 2;
    slice.category = file.category("op");
    slice.text = "testing";
    slice.arrow_from = 0x0102;
    std::string bytes;
    PerfettoFile::begin(bytes, slice);
    PerfettoFile::end(bytes, slice.track, 300);
    file.write(bytes);
  });
  CHECK(
      written ==
      std::string("\x0a\x0e\x50\x01\x68\x02\x62\x08\x0a\x06\x08\x01\x12\x02op", 16) +
          std::string(
              "\x0a\x23\x50\x01\x68\x02\x40\x02\x5a\x1b\x48\x01\x58\x96\x01\x18\x01\xba\x01\x07testing", 27) +
          std::string("\xf9\x02\x02\x01\0\0\0\0\0\0", 10) +
          std::string("\x0a\x0e\x50\x01\x68\x02\x40\xac\x02\x5a\x05\x48\x02\x58\x96\x01", 16));
}

TEST_CASE("facts: numbers below 0, fractions, long texts, bytes that are no UTF-8") {
  // `before`: the bytes in front of a text, which are tag, length, number of the name, tag and length.
  for (const auto& [size, before] : {std::pair{0, 6}, {100, 6}, {128, 8}, {20'000, 10}}) {
    const std::string text(static_cast<std::size_t>(size), 'x');
    Annotations facts;
    packets([&](PerfettoFile& file) { file.fact(facts, "name", text); });
    CHECK(facts.bytes.size() == text.size() + static_cast<std::size_t>(before));
    CHECK(facts.bytes.ends_with(text));
  }
  Annotations facts;
  packets([&](PerfettoFile& file) {
    file.fact(facts, "n", std::int64_t{-1});
    file.fact_real(facts, "n", 1.0);
    file.fact_flag(facts, "n", true);
    file.fact(facts, "n", std::string_view("\xff(\xc3"));
  });
  CHECK(facts.bytes == std::string("\x22\x0d\x08\x01\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 15) +
                           std::string("\x22\x0b\x08\x01\x29\0\0\0\0\0\0\xf0\x3f", 13) +
                           std::string("\x22\x04\x08\x01\x10\x01", 6) +
                           "\x22\x0b\x08\x01\x32\x07\xef\xbf\xbd(\xef\xbf\xbd");
}

TEST_CASE("slices that begin together are written outermost first") {
  HeldSlices held;
  // The spans at depths 0, 1 and 2 begin at the same time; a second span at depth 2 begins later.
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
