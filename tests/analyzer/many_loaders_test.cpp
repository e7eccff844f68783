// The table of loaders stays short, however many there are; the JSON has them all.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "answers/report/report.hpp"
#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

constexpr std::uint64_t kLoaders = 3000;

// A loop of each loader with a step between its two batches; each of the last `others` has settings of its
// own.
Bytes many_loaders(std::uint64_t others) {
  MadeTrace made;
  ThreadWriter main(made, 1, 1);
  for (std::uint64_t id = 1; id <= kLoaders; ++id) {
    made.loader(id, id <= kLoaders - others ? 0 : id);
    made.iterator(id, id);
    const auto from = static_cast<double>(id);
    for (std::uint64_t batch = 0; batch < 2; ++batch) {
      const double begun = from + 0.4 * static_cast<double>(batch);
      main.record<Kind::next>(at(begun), id, 0);
      span<Kind::fetch>(main, begun, begun + 0.1, id, 0, batch);
      main.record<Kind::leave>(at(begun + 0.2));
    }
  }
  main.flush();
  made.close();
  return made.bytes;
}

// The lines of the table of loaders, below its heading.
std::vector<std::string> rows_of(const Findings& findings) {
  const std::string text = report_text(findings, Terminal{.all_columns = true});
  std::vector<std::string> rows;
  std::size_t line = text.find('\n', text.find('\n', text.find("\nLoaders ") + 1) + 1) + 1;
  for (std::size_t end; (end = text.find('\n', line)) != line; line = end + 1)
    rows.push_back(text.substr(line, end - line));
  return rows;
}

}  // namespace

TEST_CASE("loaders with the same settings share a row") {
  const TemporaryFile file(many_loaders(2));
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  const auto rows = rows_of(findings);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].find(" 2,998 ") != std::string::npos);
  CHECK(rows[0].find(" 5,996 ") != std::string::npos);  // batches
  CHECK(rows[0].find(" 66.7 %") != std::string::npos);  // of 0.6 ms from the first to the last
  CHECK(report_json(findings)["loaders"].size() == kLoaders);
}

TEST_CASE("of many loaders with different settings, few are rows") {
  const TemporaryFile file(many_loaders(kLoaders));
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  const auto rows = rows_of(findings);
  REQUIRE(rows.size() == 33);
  CHECK(rows.back() == "  and 2,968 more, in report --json");
  CHECK(report_json(findings)["loaders"].size() == kLoaders);
}
