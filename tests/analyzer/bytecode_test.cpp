// Bytecode of CPython: what is decoded agrees with the interpreters' own dis, and loops and tests are found.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "answers/controlflow/code_flow.hpp"
#include "answers/controlflow/exception_table.hpp"
#include "answers/controlflow/line_table.hpp"
#include "python_codes.hpp"

using namespace lotus::analyzer;
using namespace lotus::analyzer::controlflow;
using namespace lotus::analyzer::test;

namespace {

// The code of one function of `source`, by the first interpreter of a version; empty: there is none.
CodeTable table_of(unsigned minor, const std::string& source) {
  for (const std::string& python : interpreters()) {
    const std::string version = output_of(python + " -c 'import sys; print(sys.version_info[1])'");
    if (std::atoi(version.c_str()) != static_cast<int>(minor)) continue;
    const std::string program =
        "import sys; c = compile(sys.argv[1], \"x\", \"exec\").co_consts[0]; "
        "print(c.co_code.hex(), (c.co_lnotab if sys.version_info < (3, 10) else c.co_linetable).hex(), "
        "getattr(c, \"co_exceptiontable\", b\"\").hex())";
    std::istringstream words(output_of(python + " -W ignore -c '" + program + "' '" + source + "'"));
    std::string bytecode, lines, exceptions;
    words >> bytecode >> lines >> exceptions;
    return {from_hex(bytecode), from_hex(lines), "", from_hex(exceptions)};
  }
  return {};
}

}  // namespace

TEST_CASE("bytecode: instructions, lines and targets are those that Python's dis has") {
  for (const std::string& python : interpreters()) {
    INFO(python);
    std::istringstream text(output_of(python + " -W ignore " LOTUS_PRINT_CODES " 2>/dev/null"));
    std::string line;
    std::size_t codes = 0, differing = 0;
    std::string first;
    while (std::getline(text, line)) {
      if (std::atoi(line.c_str()) < static_cast<int>(kOldestMinor)) continue;
      ++codes;
      const std::string differs = difference(line);
      if (!differs.empty() && differing++ == 0) first = differs;
    }
    INFO(codes, " codes; ", first);
    CHECK(differing == 0);
  }
}

TEST_CASE("bytecode: loops are those of the source, by line and kind, in all versions that are here") {
  const std::string source =
      "def f(x, n):\n"              // 1
      "    for i in x:\n"           // 2
      "        for j in i:\n"       // 3
      "            g(j)\n"          // 4
      "            if j.k:\n"       // 5
      "                continue\n"  // 6
      "            h(j)\n"          // 7
      "    while n > 0:\n"          // 8
      "        n = k(n)\n"          // 9
      "    while True:\n"           // 10
      "        if m(n):\n"          // 11
      "            return 1\n";     // 12
  for (unsigned minor = kOldestMinor; minor <= kNewestMinor; ++minor) {
    const CodeTable table = table_of(minor, source);
    if (table.bytecode.empty()) continue;
    INFO(minor);
    const auto flow = CodeFlow::of(minor, table, 1);
    REQUIRE(flow);
    std::vector<std::pair<std::uint32_t, bool>> found;
    for (const Loop& loop : flow->loops()) found.emplace_back(loop.line, loop.is_for);
    std::sort(found.begin(), found.end());
    // 3.9 leaves nothing of `while True`: the test that begins its body is as good as its own.
    const std::uint32_t endless = minor == 9 ? 11 : 10;
    CHECK((found ==
           std::vector<std::pair<std::uint32_t, bool>>{{2, true}, {3, true}, {8, false}, {endless, false}}));
    for (const Loop& loop : flow->loops())
      if (loop.line == 3) CHECK(flow->loops()[loop.parent].line == 2);
    std::vector<std::uint32_t> tests;
    for (std::size_t i = 0; i < flow->code().size(); ++i)
      if (is_test(flow->code()[i].flow) && !flow->is_loop_test(i)) tests.push_back(flow->line(i));
    CHECK((tests == (minor == 9 ? std::vector<std::uint32_t>{5} : std::vector<std::uint32_t>{5, 11})));
  }
}

TEST_CASE("bytecode: what is no code of a known Python is none") {
  CHECK_FALSE(decoded(8, std::string("\x53\x00", 2)));
  CHECK_FALSE(decoded(kNewestMinor + 1, std::string("\x53\x00", 2)));
  CHECK_FALSE(decoded(11, ""));
  CHECK_FALSE(decoded(11, "\x53"));
  CHECK_FALSE(decoded(11, std::string("\x6e\x40\x53\x00", 4)));  // a jump to nowhere
  CHECK(decoded(11, std::string("\x53\x00", 2)));
  CHECK(lines_of(11, *decoded(11, std::string("\x53\x00", 2)), "\xff\xff\xff", 1).size() == 1);
}

TEST_CASE("bytecode: tables of exceptions are those that Python's dis reads") {
  const std::string program =
      "import dis, sys, subprocess, tarfile, threading\n"
      "def all(code):\n"
      "    yield code\n"
      "    for c in code.co_consts:\n"
      "        if hasattr(c, \"co_code\"): yield from all(c)\n"
      "if sys.version_info >= (3, 11):\n"
      "    for m in (subprocess, tarfile, threading):\n"
      "        for c in all(compile(open(m.__file__).read(), m.__file__, \"exec\")):\n"
      "            if c.co_exceptiontable:\n"
      "                print(sys.version_info[1], c.co_code.hex(), c.co_exceptiontable.hex(), "
      "*[f\"{e.start}:{e.end}:"
      "{e.target}\" for e in dis._parse_exception_table(c)])\n";
  for (const std::string& python : interpreters()) {
    INFO(python);
    std::istringstream text(output_of(python + " -W ignore -c '" + program + "' 2>/dev/null"));
    for (std::string line; std::getline(text, line);) {
      INFO(line);
      std::istringstream words(line);
      unsigned minor = 0;
      std::string bytecode, table, wanted;
      words >> minor >> bytecode >> table;
      const auto code = decoded(minor, from_hex(bytecode));
      REQUIRE(code);
      const auto found = exceptions_of(*code, from_hex(table));
      REQUIRE(found);
      for (const Guarded& one : *found) {
        words >> wanted;
        std::size_t start = 0, end = 0, target = 0;
        REQUIRE(std::sscanf(wanted.c_str(), "%zu:%zu:%zu", &start, &end, &target) == 3);
        CHECK(one.first == instruction_at(*code, start));
        CHECK((one.end < code->size() ? (*code)[one.end].offset : code->back().end) == end);
        CHECK(one.handler == instruction_at(*code, target));
      }
      CHECK_FALSE(static_cast<bool>(words >> wanted));
    }
  }
}

TEST_CASE("bytecode: a table of exceptions that is damaged is none, and an empty one has nothing") {
  std::string bytecode;
  for (int i = 0; i < 200; ++i) bytecode += std::string("\x09\x00", 2);
  const auto code = decoded(11, bytecode);
  REQUIRE(code);
  CHECK_FALSE(exceptions_of(*code, "\x01\x02\x03\x01"));                  // no begin
  CHECK_FALSE(exceptions_of(*code, "\x81\x02\x03"));                      // cut off
  CHECK_FALSE(exceptions_of(*code, "\x81\x02\x43"));                      // …, in a number
  CHECK_FALSE(exceptions_of(*code, "\xbf\x02\x43\x3f\x01\x01"));          // behind the code
  CHECK_FALSE(exceptions_of(*code, "\x81\x02\x05\x01\x82\x02\x05\x01"));  // twice the same instruction
  CHECK(exceptions_of(*code, "\x81\x02\x05\x01\x83\x02\x05\x01")->size() == 2);
  CHECK_FALSE(exceptions_of(*code, std::string(5000, '\xff')));
  CHECK(exceptions_of(*code, "")->empty());
  const auto whole = exceptions_of(*code, "\x81\x02\x43\x05\x02");
  REQUIRE(whole);
  REQUIRE(whole->size() == 1);
  CHECK(whole->front().first == 1);
  CHECK(whole->front().end == 3);
  CHECK(whole->front().handler == 3 * 64 + 5);
  // Whatever the bytes are, a code with them is read, or is none.
  std::uint32_t random = 1;
  for (int i = 0; i < 2000; ++i) {
    std::string table;
    for (int b = 0; b < 1 + i % 40; ++b)
      table += static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
    if (i % 2 == 0) table[0] = static_cast<char>(table[0] | 0x80);
    CHECK(CodeFlow::of(11, {bytecode, "", "", table}, 1));
  }
}
