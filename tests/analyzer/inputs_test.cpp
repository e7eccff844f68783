// Which traces a command reads, and what it writes beside text: standard input, the same trace twice, pages,
// CSV.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "made_trace.hpp"
#include "text/csv.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> buffer{};
  std::size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) text.append(buffer.data(), got);
  REQUIRE(::pclose(pipe) == 0);
  return text;
}

std::string analyze(const std::string& arguments) { return std::string(LOTUS_ANALYZE) + " " + arguments; }

Bytes two_batches() {
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  const std::uint32_t number = made.worker(1, 0);
  ThreadWriter worker(made, number, 1);
  for (int i = 0; i < 2; ++i)
    span<Kind::fetch>(worker, 10.0 * i, 10.0 * i + 4, 1, 0, static_cast<std::uint64_t>(i));
  worker.flush();
  made.close();
  return made.bytes;
}

}  // namespace

TEST_CASE("a trace comes by standard input, also from a pipe") {
  const TemporaryFile file(two_batches());
  const std::string told = output_of(analyze("report --json " + file.path()));
  for (const std::string& command : {"cat " + file.path() + " | " + analyze("report --json -"),
                                     analyze("report --json - < ") + file.path()}) {
    const auto report = nlohmann::json::parse(output_of(command));
    CHECK(report["batches"] == nlohmann::json::parse(told)["batches"]);
  }
}

TEST_CASE("a trace that is named twice counts once, by whatever path") {
  const TemporaryFile file(two_batches());
  const std::string link = file.path() + ".link";
  REQUIRE(::symlink(file.path().c_str(), link.c_str()) == 0);
  const auto report = nlohmann::json::parse(
      output_of(analyze("report --json " + file.path() + " " + file.path() + " " + link)));
  ::unlink(link.c_str());
  CHECK(report["batches"]["count"] == 2);
}

TEST_CASE("who may not read a trace may not read its page") {
  const TemporaryFile file(two_batches());
  for (const unsigned mode : {0600U, 0640U, 0644U}) {
    REQUIRE(::chmod(file.path().c_str(), mode) == 0);
    const std::string page = file.path() + ".html";
    output_of("umask 022; " + analyze("report --html " + page + " " + file.path()));
    struct stat status {};
    REQUIRE(::stat(page.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == mode);
    ::unlink(page.c_str());
  }
}

TEST_CASE("cells of CSV begin no formula, and numbers stay numbers") {
  CHECK(csv_cell("=HYPERLINK(1)") == "'=HYPERLINK(1)");
  CHECK(csv_cell("@x,y") == "\"'@x,y\"");
  CHECK(csv_cell("-cmd") == "'-cmd");
  CHECK(csv_cell("-1.5") == "-1.5");
  CHECK(csv_cell("+3.2e-05") == "+3.2e-05");
  CHECK(csv_cell("Crop") == "Crop");
}
