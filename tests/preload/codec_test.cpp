#include <doctest/doctest.h>

#include <limits>
#include <lotus/field.hpp>

using namespace lotus;

TEST_CASE("varints of every length come back") {
  std::uint8_t bytes[kMaxVarint];
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t value :
         {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1, ~std::uint64_t{0} >> bit}) {
      const std::uint8_t* end = put_varint(bytes, value);
      std::uint64_t back = ~value;
      CHECK(get_varint(bytes, end, back) == end);
      CHECK(back == value);
      CHECK(get_varint(bytes, end - 1, back) == nullptr);  // cut off
    }
  }
}

TEST_CASE("a varint without end is refused") {
  std::uint8_t bytes[32];
  std::memset(bytes, 0x80, sizeof bytes);
  std::uint64_t value = 0;
  CHECK(get_varint(bytes, bytes + sizeof bytes, value) == nullptr);
}

TEST_CASE("a record of each field type comes back, and none of its prefixes does") {
  std::uint8_t bytes[512];
  const std::string_view name("na\0me", 5);
  const std::uint8_t* end =
      encode<Kind::op_def>(bytes, 77, 3, 1, name, std::string_view("q"), std::string_view(), 12);
  CHECK(static_cast<std::size_t>(end - bytes) <=
        encoded_bound<Kind::op_def>(3, 1, name, std::string_view("q"), std::string_view(), 12));
  Record record;
  REQUIRE(decode(bytes, end, record) == end);
  CHECK(record.kind == Kind::op_def);
  CHECK(record.shape == Shape::definition);
  CHECK(record.dt == 77);
  CHECK(field<Kind::op_def, "id">(record) == 3);
  CHECK(field<Kind::op_def, "name">(record) == name);
  CHECK(field<Kind::op_def, "file">(record).empty());
  CHECK(field<Kind::op_def, "line">(record) == 12);
  for (const std::uint8_t* cut = bytes; cut < end; ++cut) CHECK(decode(bytes, cut, record) == nullptr);
}

TEST_CASE("signed fields keep their sign") {
  std::uint8_t bytes[64];
  for (const std::int64_t index :
       {std::int64_t{-1}, std::int64_t{0}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    const std::uint8_t* end = encode<Kind::sample>(bytes, 0, index);
    Record record;
    REQUIRE(decode(bytes, end, record) == end);
    CHECK(field<Kind::sample, "index">(record) == index);
  }
}

TEST_CASE("fields stand where their rows say, with their units") {
  static_assert(kPlaceOf<Kind::loader, "id"> == 0 && kPlaceOf<Kind::loader, "length"> == 8);
  static_assert(kTypeOf<Kind::loader, "dataset"> == 's' && kTypeOf<Kind::loader, "length"> == 'z');
  static_assert(kFieldsOf<Kind::native>.units[kPlaceOf<Kind::native, "ticks">] == "ticks");
  static_assert(kFieldsOf<Kind::native>.units[kPlaceOf<Kind::native, "calls">].empty());
  CHECK(parse_fields("took:u:ns name:s").valid);
  for (const char* text : {"took:u:", "took:uns", "took::ns", ":u:ns", "took:x:ns"})
    CHECK_FALSE(parse_fields(text).valid);
}

TEST_CASE("a string that claims to be longer than the bytes is refused") {
  std::uint8_t bytes[64];
  std::uint8_t* end = encode<Kind::path>(bytes, 0, 0, std::string_view("abc"));
  end[-4] = 0x7f;  // the length
  Record record;
  CHECK(decode(bytes, end, record) == nullptr);
}

TEST_CASE("an unknown kind is no record") {
  const std::uint8_t bytes[] = {255, 0};
  Record record;
  CHECK(decode(bytes, bytes + sizeof bytes, record) == nullptr);
}
