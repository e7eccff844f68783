// Text that is safe to print and fits its width.
#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>
#include <string>

#include "text/escape.hpp"
#include "text/json_writer.hpp"
#include "text/table.hpp"
#include "text/terminal.hpp"
#include "text/units.hpp"
#include "text/utf8.hpp"

using namespace lotus::analyzer;

namespace {

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::size_t widest = 0;
  while (std::getline(lines, line)) widest = std::max(widest, display_width(line));
  return widest;
}

}  // namespace

TEST_CASE("control characters and broken UTF-8 are escaped, the rest is not") {
  CHECK(escaped("plain ÄÖ 图.jpg") == "plain ÄÖ 图.jpg");
  CHECK(escaped("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(escaped("\x1b[31m") == "\\x1b[31m");
  CHECK(escaped("back\\slash") == "back\\\\slash");
  CHECK(escaped("\xff\xc3(") == "\\xff\\xc3(");
  CHECK(escaped("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(escaped("\xc2\x9b") == "\\xc2\\x9b");           // C1: CSI
  CHECK(escaped("\xe2\x80\xae") == "\\xe2\\x80\\xae");  // right-to-left override
  CHECK(escaped(std::string_view("\0x", 2)) == "\\x00x");
  CHECK(escaped("\xe2\x82") == "\\xe2\\x82");  // cut off
}

TEST_CASE("JSON strings replace what is no UTF-8") {
  CHECK(json_string("a\"b\n\xff") == "\"a\\\"b\\n\xef\xbf\xbd\"");
}

TEST_CASE("JSON that is written piece by piece has the same strings, and numbers as they are given") {
  JsonWriter json;
  json.start_object();
  for (const std::string text : {"", "plain", "a\"b\\\n", "\x1b\x7f", "Ä", "\xff"}) json.key(text).text(text);
  json.key("n").number(-1);
  json.key("u").number(UINT64_MAX);
  json.key("list").start_array();
  json.flag(true);
  json.null();
  json.json("1.500");
  json.end_array();
  CHECK_FALSE(json.complete());
  json.end_object();
  CHECK(json.complete());
  std::string expected = "{";
  for (const std::string text : {"", "plain", "a\"b\\\n", "\x1b\x7f", "Ä", "\xff"})
    expected += json_string(text) + ":" + json_string(text) + ",";
  CHECK(json.written() == expected + R"("n":-1,"u":18446744073709551615,"list":[true,null,1.500]})");
  json.clear();
  json.number(1);
  CHECK(json.written() == "1");
}

TEST_CASE("width counts columns") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("Äß€") == 3);
  CHECK(display_width("图片") == 4);
  CHECK(display_width("e\xcc\x81") == 1);  // combining accent
}

TEST_CASE("shortening cuts the middle and never a character") {
  CHECK(shortened("short", 10) == "short");
  CHECK(shortened("/data/very/long/path.jpg", 11) == "/data…h.jpg");
  for (std::size_t width = 0; width < 20; ++width) {
    const std::string text = shortened("图片图片/ÄÖÜ/图片图片.jpg", width);
    CHECK(display_width(text) <= width);
    CHECK(escaped(text) == text);
  }
}

TEST_CASE("wrapping keeps words and width") {
  const std::string text = wrapped("the quick brown fox jumps over the lazy dog", 10);
  CHECK(text == "the quick\nbrown fox\njumps over\nthe lazy\ndog");
  CHECK(widest_line(wrapped("a " + std::string(100, 'x') + " b", 20)) <= 20);
  CHECK(wrapped("one two", 5, 2) == "one\n  two");
  CHECK(wrapped("it took 12 ms, no 7 %", 10) == "it took\n12 ms, no\n7 %");
  CHECK(wrapped("", 10).empty());
}

TEST_CASE("times, counts, shares for people") {
  CHECK(human_time(0) == "0 ns");
  CHECK(human_time(850) == "850 ns");
  CHECK(human_time(61'234) == "61.2 µs");
  CHECK(human_time(4'760'000) == "4.76 ms");
  CHECK(human_time(999'999'999) == "1.00 s");
  CHECK(human_time(100e9) == "100 s");
  CHECK(human_time(450e9) == "7.50 min");
  CHECK(human_time(-4'760'000) == "-4.76 ms");
  CHECK(human_time(9e12) == "2.50 h");
  CHECK(human_count(0) == "0");
  CHECK(human_count(999) == "999");
  CHECK(human_count(1281167) == "1,281,167");
  CHECK(human_percent(41.24) == "41.2 %");
  CHECK(human_percent(0) == "0.0 %");
  CHECK(human_percent(0.031) == "0.03 %");
  CHECK(human_percent(0.0001) == "<0.01 %");
  CHECK(human_percent(100) == "100 %");
  CHECK(human_bytes(812) == "812 B");
  CHECK(human_bytes(2.5 * 1024 * 1024) == "2.50 MiB");
  CHECK(bar(50, 4) == "██");
  CHECK(bar(100.0 / 16, 4) == "▎");
  CHECK(bar(250, 2) == "██");
}

TEST_CASE("a table drops columns, then shortens one, and never exceeds its width") {
  Table table({{.title = "name", .right = false, .flexible = true, .narrowest = 8},
               {.title = "always"},
               {.title = "sometimes", .importance = 1},
               {.title = "rarely", .importance = 2}});
  table.add({"RandomHorizontalFlip", "1", "2", "3"});
  table.add({"图片图片图片图片图片", "100", "200", "300"});
  for (std::size_t width = 20; width < 80; ++width) {
    const std::string text = table.text(Terminal{width, false});
    CHECK(widest_line(text) <= width);
    CHECK(text.find("always") != std::string::npos);
  }
  CHECK(table.text({80, false}).find("rarely") != std::string::npos);
  CHECK(table.text({34, false}).find("rarely") == std::string::npos);
  CHECK(table.text({34, false}).find("sometimes") != std::string::npos);
  CHECK(table.text({80, true}).find("\x1b[") != std::string::npos);
  CHECK(table.text({80, false}).find("\x1b[") == std::string::npos);
}

TEST_CASE("wide characters do not move the columns beside them") {
  Table table({{.title = "file", .right = false}, {.title = "n"}});
  table.add({"图", "1"});
  table.add({"abcd", "2"});
  std::istringstream lines(table.text({80, false}));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) CHECK(display_width(line) == 9);
}
