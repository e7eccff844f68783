// Definitions of many ring records are joined in one body and keep their records and absolute times.
#include "definition_frames.hpp"

#include <doctest/doctest.h>

#include <lotus/field.hpp>
#include <lotus/trace.hpp>
#include <random>
#include <utility>

using namespace lotus;
using namespace lotus::collector;

namespace {

using Seen = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // absolute ticks, id

std::vector<std::uint8_t> payload(const std::vector<std::uint64_t>& dts, std::uint64_t first_id) {
  std::vector<std::uint8_t> bytes(dts.size() * 100);
  std::uint8_t* end = bytes.data();
  for (const std::uint64_t dt : dts) end = encode<Kind::iterator>(end, dt, first_id++, 7u);
  bytes.resize(static_cast<std::size_t>(end - bytes.data()));
  return bytes;
}

void read_body(const DefinitionBody& body, Seen& seen) {
  const std::uint8_t* at = body.bytes.data();
  const std::uint8_t* const end = at + body.bytes.size();
  std::uint64_t ticks = body.base_ticks;
  std::uint32_t events = 0;
  Record record;
  while ((at = decode(at, end, record)) != nullptr) {
    ticks += record.dt;
    seen.emplace_back(ticks, field<Kind::iterator, "id">(record));
    ++events;
  }
  CHECK(events == body.events);
}

}  // namespace

TEST_CASE("joined bodies give the times and ids that went in") {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < 200; ++round) {
    DefinitionJoiner joiner;
    Seen expected;
    Seen seen;
    std::uint64_t id = 1;
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t base = below(3) == 0 ? below(1000) : (1ull << 40) + below(1ull << 30);
      std::vector<std::uint64_t> dts(1 + below(4));
      std::uint64_t ticks = base;
      for (std::uint64_t& dt : dts) {
        dt = below(1ull << below(40));
        ticks += dt;
        expected.emplace_back(ticks, id + static_cast<std::uint64_t>(&dt - dts.data()));
      }
      std::optional<DefinitionBody> full;
      CHECK(joiner.append(payload(dts, id), base, full));
      if (full) read_body(*full, seen);
      id += dts.size();
    }
    read_body(joiner.take(), seen);
    CHECK(seen == expected);
  }
}

TEST_CASE("what is no definition ends a payload") {
  auto bytes = payload({1, 2}, 1);
  const std::size_t whole = bytes.size();
  bytes.resize(whole + 100);
  bytes.resize(static_cast<std::size_t>(encode<Kind::bytes>(bytes.data() + whole, 1, 5u) - bytes.data()));
  DefinitionJoiner joiner;
  std::optional<DefinitionBody> full;
  CHECK_FALSE(joiner.append(bytes, 100, full));
  const DefinitionBody body = joiner.take();
  CHECK(body.events == 2);
  CHECK(body.bytes.size() == whole);

  const std::vector<std::uint8_t> garbage{0xff, 0xff, 0xff};
  CHECK_FALSE(joiner.append(garbage, 100, full));
  CHECK(joiner.take().events == 0);
  CHECK(joiner.append({}, 100, full));
}

TEST_CASE("a large body is closed") {
  DefinitionJoiner joiner;
  std::optional<DefinitionBody> full;
  const auto bytes = payload(std::vector<std::uint64_t>(1000, 3), 1);
  for (int i = 0; i < 2000 && !full; ++i) joiner.append(bytes, 10000 * static_cast<std::uint64_t>(i), full);
  REQUIRE(full);
  CHECK(full->bytes.size() < kMaxRawFrame);
  CHECK(joiner.take().events == 1000);
}
