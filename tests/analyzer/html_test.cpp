// The data of the report page, and their encoding in the page.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "made_trace.hpp"
#include "showing/html/column.hpp"
#include "showing/html/page.hpp"
#include "showing/html/parts.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

using Json = nlohmann::ordered_json;

constexpr double kPitch = 2;  // ms from one batch to the next

// A worker that makes batches of one sample. A batch takes 1 ms, 0.5 ms of it in the op; every thousandth
// batch takes 0.9 ms longer.
Bytes long_run(std::uint64_t batches, const std::string& op) {
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  const std::uint32_t number = made.worker(1, 0);
  made.op(number, 1, OpRole::transform, op);
  ThreadWriter worker(made, number, 1);
  worker.record<Kind::worker_loop>(at(0), 0, 1);
  for (std::uint64_t i = 0; i < batches; ++i) {
    const double start = 1 + kPitch * static_cast<double>(i), longer = i % 1000 == 0 ? 0.9 : 0;
    worker.record<Kind::fetch>(at(start), 0, 0, i);
    worker.record<Kind::sample>(at(start), static_cast<std::int64_t>(i));
    span<Kind::op>(worker, start + 0.1, start + 0.6 + longer, 1);
    worker.record<Kind::leave>(at(start + 0.9 + longer));
    worker.record<Kind::leave>(at(start + 1 + longer));
  }
  const double end = 2 + kPitch * static_cast<double>(batches);
  worker.record<Kind::leave>(at(end));
  worker.flush();
  made.close(end);
  return made.bytes;
}

std::vector<std::uint32_t> decoded(const std::string& text) {
  static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(kDigits.find(c));
    if ((count += 6) < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  std::vector<std::uint32_t> values(bytes.size() / 4);
  for (std::size_t i = 0; i < 4 * values.size(); ++i)
    values[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * (i % 4));
  return values;
}

// Shows the trace to a visitor that has begin().
template <class View>
void show_to(View& view, Trace& trace) {
  view.begin(trace);
  show(trace, view);
}

std::string page_of(const Bytes& bytes) {
  const TemporaryFile file(bytes);
  const TemporaryFile html({}, ".html");
  Trace trace(file.path());
  Page page;
  const Reading reading;
  page.visitors(trace);
  page.add(trace, reading);
  Output out(html.path(), true);
  page.write(out, findings_of(trace));
  out.close();
  std::ifstream in(html.path());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("html: columns are little-endian base64") {
  Column<2> column;
  column.add(1);
  column.add(70'000);  // does not fit: stored as the greatest value below "unknown"
  column.add_missing();
  CHECK(column.text() == "AQD+////");
  CHECK(base64("a") == "YQ==");
  CHECK(base64("ab") == "YWI=");
  CHECK(base64("").empty());
  CHECK(decoded(float_column({1.0, -2.5})) == std::vector<std::uint32_t>{0x3f800000, 0xc0200000});
}

TEST_CASE("html: batches keep their times") {
  const TemporaryFile file(long_run(3, "Crop"));
  Trace trace(file.path());
  LaneTable lanes;
  BatchRows rows(lanes);
  show_to(rows, trace);
  const Json json = rows.json();
  CHECK(json["unit_ns"] == 100);
  CHECK(json["batches"]["count"] == 3);
  CHECK(json["batches"]["stride"] == 1);
  CHECK(decoded(json["batches"]["start"]) == std::vector<std::uint32_t>{0, 20'000, 40'000});
  CHECK(decoded(json["batches"]["duration"]) == std::vector<std::uint32_t>{19'000, 10'000, 10'000});
  CHECK(decoded(json["batches"]["consumed"]) == std::vector<std::uint32_t>(3, UINT32_MAX));
  CHECK(lanes.json().size() == 1);
  CHECK(lanes.json()[0]["worker"] == 0);
}

TEST_CASE("html: of very many batches every second one is kept") {
  const TemporaryFile file(long_run(BatchRows::kMost + 10'000, "Crop"));
  Trace trace(file.path());
  LaneTable lanes;
  BatchRows rows(lanes);
  show_to(rows, trace);
  const Json batches = rows.json()["batches"];
  CHECK(batches["stride"] == 2);
  CHECK(batches["count"] == (BatchRows::kMost + 10'000) / 2);
  const auto numbers = decoded(batches["number"]);
  for (std::size_t i = 1; i < numbers.size(); ++i) REQUIRE(numbers[i] == numbers[i - 1] + 2);
}

TEST_CASE("html: the bins of an operation hold all its time, however long the run") {
  const std::uint64_t batches = 20'000;
  const TemporaryFile file(long_run(batches, "Crop"));
  Trace trace(file.path());
  LaneTable lanes;
  OpTimes times(lanes);
  show_to(times, trace);
  const Findings findings = findings_of(trace);
  const Json json = times.json(findings.ops);
  CHECK(json["bin_ms"].get<double>() * OpTimes::kBins >= kPitch * batches);
  double sum = 0;
  for (const auto& bin : json["rows"][0]["bins_ms"]) {
    sum += bin.get<double>();
    CHECK(bin.get<double>() <= json["bin_ms"].get<double>());  // there is one worker only
  }
  const double expected = 0.5 * static_cast<double>(batches) + 0.9 * 20;
  CHECK(sum == doctest::Approx(expected).epsilon(1e-4));
  CHECK(json["rows"][0]["lanes"][0][1] == batches);
  CHECK(json["rows"][0]["lanes"][0][3].get<double>() == doctest::Approx(expected).epsilon(1e-9));
}

TEST_CASE("html: a long call lies in all bins that it reaches into") {
  MadeTrace made;
  made.op(1, 1, OpRole::transform, "Crop");
  ThreadWriter main(made, 1, 1);
  span<Kind::op>(main, 10, 90, 1);
  main.flush();
  made.close(100);
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  LaneTable lanes;
  OpTimes times(lanes);
  show_to(times, trace);
  const Json json = times.json(findings_of(trace).ops);
  CHECK(json["bin_ms"] == 1);
  const auto& bins = json["rows"][0]["bins_ms"];
  std::size_t full = 0;
  for (const auto& bin : bins) full += bin == 1.0 ? 1 : 0;
  CHECK(full >= 79);
}

TEST_CASE("html: the slowest samples, and a bounded choice of all") {
  const TemporaryFile file(long_run(60'000, "Crop"));
  Trace trace(file.path());
  SampleGallery samples;
  show_to(samples, trace);
  const Json json = samples.json();
  CHECK(json["seen"] == 59'999);
  CHECK(json["left_out"] == 1);  // the worker's first sample
  CHECK(json["with_bytes"] == 0);
  CHECK(json["chosen"]["count"] == SampleGallery::kChosen);
  REQUIRE(json["slowest"].size() == SampleGallery::kSlowest);
  for (const auto& sample : json["slowest"]) {
    CHECK(sample["index"].get<int>() % 1000 == 0);
    CHECK(sample["ms"].get<double>() == doctest::Approx(1.8));
    CHECK(sample["op"] == "Crop");
    CHECK(sample["bytes"].is_null());
  }
}

TEST_CASE("html: the page holds its parts, and names cannot leave their place") {
  const std::string page = page_of(long_run(5, "</script><b onclick=x>{{report}}<!--"));
  for (const char* part : {"style.css", "script.js", "d3.min.js", "d3-licence.txt"}) {
    CHECK_FALSE(part_named(part).empty());
    CHECK(page.find(part_named(part)) != std::string::npos);
  }
  CHECK(part_named("no such part").empty());
  CHECK(page.find("</script><b") == std::string::npos);
  CHECK(page.find("\\u003c/script>\\u003cb onclick=x>{{report}}\\u003c!--") != std::string::npos);
}

TEST_CASE("html: a trace without anything makes a page") {
  MadeTrace made;
  made.close(1);
  const std::string page = page_of(made.bytes);
  CHECK(page.find("Nothing was recorded") != std::string::npos);
}
