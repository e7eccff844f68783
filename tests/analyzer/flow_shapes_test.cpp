// What flow_shapes.py says of its loops and branches is found in its bytecode: as CPython 3.14 and 3.15 made
// it (flow_shapes.N.txt), and as the interpreters of this machine do.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "answers/controlflow/code_flow.hpp"
#include "python_codes.hpp"

using namespace lotus::analyzer;
using namespace lotus::analyzer::controlflow;
using namespace lotus::analyzer::test;

namespace {

struct Shapes {
  std::vector<std::pair<std::uint32_t, bool>> loops;  // line, whether it is `for`
  std::set<std::uint32_t> branches, ifs;              // lines

  void sort() { std::sort(loops.begin(), loops.end()); }
};

Shapes shapes_of_source() {
  Shapes shapes;
  std::ifstream source(LOTUS_FLOW_SHAPES ".py");
  std::string text;
  for (std::uint32_t line = 1; std::getline(source, text); ++line) {
    const std::size_t comment = text.find("  # ");
    if (comment == std::string::npos) continue;
    std::istringstream words(text.substr(comment + 4));
    for (std::string word; words >> word;) {
      if (word == "for" || word == "while") shapes.loops.emplace_back(line, word == "for");
      if (word == "if" || word == "case") shapes.branches.insert(line);
      if (word == "if" && text.ends_with(":  # if")) shapes.ifs.insert(line);
    }
  }
  return shapes;
}

// The first line that is executed when a test goes on at an instruction, other than the test's own. 0:
// another test of that line comes before, if `past_tests` does not say to suppose that they go on with what
// follows.
std::uint32_t line_after(const CodeFlow& flow, std::size_t test, std::size_t at, bool past_tests) {
  for (std::size_t steps = 0; at < flow.code().size() && steps < flow.code().size(); ++steps) {
    const std::uint32_t line = flow.line(at);
    if (line != 0 && line != flow.line(test)) return line;
    const Instruction& one = flow.code()[at];
    if (!past_tests && is_test(one.flow)) return 0;
    at = one.flow == Flow::jump_forward || one.flow == Flow::jump_backward ? one.target : at + 1;
  }
  return 0;
}

// Adds a code's; returns lines of tests whose taken side is not the next line.
std::vector<std::uint32_t> add_shapes(const CodeFlow& flow, const std::set<std::uint32_t>& ifs, Shapes& to) {
  std::vector<std::uint32_t> wrong;
  for (const Loop& loop : flow.loops()) to.loops.emplace_back(loop.line, loop.is_for);
  for (std::size_t i = 0; i < flow.code().size(); ++i) {
    const Instruction& one = flow.code()[i];
    if (!is_test(one.flow) || flow.is_loop_test(i)) continue;
    to.branches.insert(flow.line(i));
    if (!ifs.contains(flow.line(i))) continue;
    const std::uint32_t below = flow.line(i) + 1;
    const bool falls = flow.enters(i, i + 1);
    if (line_after(flow, i, falls ? i + 1 : one.target, true) != below ||
        line_after(flow, i, falls ? one.target : i + 1, false) == below)
      wrong.push_back(flow.line(i));
  }
  return wrong;
}

// `text`: what print_codes.py printed of flow_shapes.py. Without the tables of exceptions, as older traces
// are, all is found, too.
void check(const std::string& text, bool with_exceptions) {
  INFO(with_exceptions);
  Shapes wanted = shapes_of_source(), found;
  std::istringstream lines(text);
  std::size_t codes = 0;
  for (std::string line; std::getline(lines, line); ++codes) {
    std::istringstream words(line);
    unsigned minor = 0;
    std::uint64_t first = 0;
    std::string bytecode, table, exceptions;
    words >> minor >> first >> bytecode >> table >> exceptions;
    if (!with_exceptions || exceptions == "-") exceptions.clear();
    INFO(minor, ", line ", first);
    CHECK(difference(line) == "");
    const auto flow = CodeFlow::of(minor, {from_hex(bytecode), from_hex(table), from_hex(exceptions)}, first);
    REQUIRE(flow);
    CHECK(add_shapes(*flow, wanted.ifs, found) == std::vector<std::uint32_t>{});
  }
  REQUIRE(codes > 0);
  wanted.sort();
  found.sort();
  std::ostringstream told;
  for (const auto& [line, is_for] : found.loops) told << line << (is_for ? " for, " : " while, ");
  for (const std::uint32_t line : found.branches) told << line << " if, ";
  INFO(told.str());
  CHECK((found.loops == wanted.loops));
  CHECK((found.branches == wanted.branches));
}

}  // namespace

TEST_CASE("flow: loops and branches are the source's, as CPython 3.14 and 3.15 compile it") {
  for (const char* minor : {"14", "15"}) {
    INFO(minor);
    std::ifstream file(std::string(LOTUS_FLOW_SHAPES ".3.") + minor + ".txt");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const bool with_exceptions : {true, false}) check(text, with_exceptions);
  }
}

TEST_CASE("flow: loops and branches are the source's, as the interpreters of this machine compile it") {
  for (const std::string& python : interpreters()) {
    const std::string text =
        output_of(python + " -W ignore " LOTUS_PRINT_CODES " " LOTUS_FLOW_SHAPES ".py 2>/dev/null");
    INFO(python);
    if (text.empty()) continue;  // 3.9 has no `match`
    for (const bool with_exceptions : {true, false}) check(text, with_exceptions);
  }
}
