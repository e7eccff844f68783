// The Chrome trace: valid JSON for any path, named lanes, arrows from the end of a fetch to its consumption.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "made_trace.hpp"
#include "showing/timeline/chrome.hpp"
#include "showing/timeline/drawing.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using nlohmann::json;

namespace {

// Two epochs of two batches with persistent workers. One batch is out of order; one sample has the given
// path.
Bytes two_epochs(const std::string& path) {
  MadeTrace made;
  made.loader(1, 2, true);
  made.iterator(1, 1);
  const std::uint32_t number = made.worker(1, 0);
  made.op(number, 1, OpRole::transform, "Odd\"name\n\xff");
  made.define<Kind::thread>(number, at(1), 2, 4242, "QueueFeederThread");
  ThreadWriter worker(made, number, 1);
  ThreadWriter feeder(made, number, 2);
  ThreadWriter main(made, 1, 1);
  worker.record<Kind::worker_loop>(at(1), 0, 1);
  for (std::uint64_t reset = 0; reset < 2; ++reset) {
    const double t = 100.0 * static_cast<double>(reset);
    made.define<Kind::epoch>(1, at(t), 1, reset, reset);
    for (std::uint64_t batch = 0; batch < 2; ++batch) {
      const double b = t + 10 * static_cast<double>(batch);
      worker.record<Kind::fetch>(at(b + 2), 0, reset, batch);
      worker.record<Kind::sample>(at(b + 2), 7);
      worker.path(at(b + 2), path);
      span<Kind::op>(worker, b + 3, b + 4, 1);
      worker.record<Kind::leave>(at(b + 5));
      worker.record<Kind::leave>(at(b + 6));
      span<Kind::serialize>(feeder, b + 7, b + 7.5, batch);
    }
    main.record<Kind::queued>(at(t), 1, reset, 0, 1);
    main.record<Kind::next>(at(t + 1), 1, reset);
    main.record<Kind::wait>(at(t + 1), 1, reset);
    get(main, t + 1, t + 30, 1, reset, 1, 0);
    get(main, t + 30.1, t + 31, 1, reset, 0, 0);
    span<Kind::consume>(main, t + 31, t + 32, 1, reset, 0);
    main.record<Kind::leave>(at(t + 32));
    main.record<Kind::leave>(at(t + 33));
    main.record<Kind::next>(at(t + 40), 1, reset);
    main.record<Kind::wait>(at(t + 40), 1, reset);
    span<Kind::consume>(main, t + 41, t + 42, 1, reset, 1);
    main.record<Kind::leave>(at(t + 42));
    main.record<Kind::leave>(at(t + 43));
  }
  for (ThreadWriter* thread : {&main, &worker, &feeder}) thread->flush();
  made.close();
  return made.bytes;
}

// The output of a timeline of the trace.
template <class Draw>
std::string drawn(const Bytes& bytes, const Draw& draw) {
  const TemporaryFile file(bytes);
  const TemporaryFile target(Bytes{}, ".out");
  Trace trace(file.path());
  Lanes lanes;
  Outline outline(lanes);
  const Reading reading = show(trace, outline);
  outline.settle();
  Output out(target.path());
  draw(trace, outline, lanes, reading, out);
  out.close();
  std::ifstream in(target.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

json timeline_of(const Bytes& bytes, bool coarse) {
  return json::parse(drawn(bytes, [&](auto& trace, auto& outline, auto& lanes, auto& reading, auto& out) {
    ChromeTimeline timeline(trace.source.path(), start_of(trace, reading), lanes, out);
    Drawing drawing(trace, outline, lanes, reading, coarse, timeline);
    show(trace, drawing);
    timeline.finish(nullptr);
  }));
}

std::map<std::string, json> slices(const json& document) {
  std::map<std::string, json> found;
  for (const auto& event : document["traceEvents"])
    if (event["ph"] == "X") found[event["name"]] = event;
  return found;
}

}  // namespace

TEST_CASE("any path makes valid JSON") {
  for (const std::string path : {"/plain.jpg", "/new\nline\t\"quoted\"\\", "/\x1b[31mred\x07",
                                 "/\xff\xfe\xc3(", "/\xe2\x82\xac/\xf0\x9f\x8c\xb8.jpg", "/nul\x01"}) {
    const json document = timeline_of(two_epochs(path), false);
    CHECK(document["otherData"]["start_realtime_ns"] == std::to_string(realtime(0)));
    const auto found = slices(document);
    REQUIRE(found.count("sample 7") == 1);
    CHECK(found.at("sample 7")["args"].contains("path"));
  }
  const json document = timeline_of(two_epochs("/\xe2\x82\xac\n"), false);
  CHECK(slices(document).at("sample 7")["args"]["path"] == "/\xe2\x82\xac\n");
}

TEST_CASE("batches: names, times, arguments, arrows") {
  const json document = timeline_of(two_epochs("/a"), false);
  const auto found = slices(document);
  for (int i = 0; i < 4; ++i)
    for (const std::string what : {"SBatchPreprocessed_", "SBatchWait_", "SBatchConsumed_"})
      CHECK(found.count(what + std::to_string(i)) == 1);
  const json made = found.at("SBatchPreprocessed_2");  // epoch 1, batch 0
  CHECK(made["ts"] == doctest::Approx(102'000));
  CHECK(made["dur"] == doctest::Approx(4'000));
  CHECK(made["cat"] == "user_annotation");
  CHECK(made["pid"] == 101);
  CHECK(made["args"]["External id"] == -3);
  CHECK(made["args"]["correlation"] == -3);
  CHECK(made["args"]["epoch"] == 1);
  CHECK(made["args"]["loader"] == 1);
  CHECK(made["args"]["batch"] == 0);
  CHECK(found.at("SBatchWait_2")["dur"] == doctest::Approx(30'000));
  const json early = found.at("SBatchWait_3");
  CHECK(early["dur"] == doctest::Approx(1));
  CHECK(early["ts"] == doctest::Approx(130'000));
  CHECK(early["args"]["out_of_order"] == true);
  std::map<std::uint64_t, json> starts;
  std::map<std::uint64_t, json> ends;
  for (const auto& event : document["traceEvents"]) {
    if (event["ph"] == "s") starts[event["id"]] = event;
    if (event["ph"] == "f") ends[event["id"]] = event;
  }
  CHECK(starts.size() == 4);
  CHECK(ends.size() == 4);
  CHECK(starts[arrow_of(2)]["ts"] == doctest::Approx(105'999.999));
  CHECK(starts[arrow_of(2)]["name"] == "ac2g");
  CHECK(ends[arrow_of(2)]["ts"] == found.at("SBatchConsumed_2")["ts"]);
  CHECK(ends[arrow_of(2)]["bp"] == "e");
}

TEST_CASE("lanes are named and sorted, durations are never negative") {
  const json document = timeline_of(two_epochs("/a"), false);
  std::set<std::string> names;
  std::set<std::pair<int, int>> named;
  for (const auto& event : document["traceEvents"]) {
    if (event["ph"] != "M") continue;
    if (event["name"] == "process_name" || event["name"] == "thread_name")
      names.insert(event["args"]["name"]);
    if (event["name"] == "thread_name") named.insert({event["pid"].get<int>(), event["tid"].get<int>()});
  }
  for (const std::string name :
       {"training process (pid 100)", "worker 0 (pid 101)", "training loop", "worker", "feeder thread",
        "batches waited for", "batches that came early", "batches handed to training"})
    CHECK_MESSAGE(names.count(name) == 1, name);
  for (const auto& event : document["traceEvents"]) {
    if (event["ph"] != "X") continue;
    CHECK(event["dur"] >= 0);
    CHECK_MESSAGE(named.count({event["pid"].get<int>(), event["tid"].get<int>()}) == 1, event.dump());
  }
}

TEST_CASE("what never ended is drawn to the end, and says so") {
  const auto found = slices(timeline_of(two_epochs("/a"), false));
  CHECK(found.at("worker_loop")["args"].contains("open"));
  CHECK(found.at("worker_loop")["dur"] == doctest::Approx(142'000));
}

TEST_CASE("coarse: batches and queue depth only") {
  const json document = timeline_of(two_epochs("/a"), true);
  for (const auto& event : document["traceEvents"])
    if (event["ph"] == "X") CHECK(event["name"].get<std::string>().substr(0, 6) == "SBatch");
  CHECK(slices(document).size() == 12);
}

TEST_CASE("the queue depth is a counter") {
  std::uint64_t samples = 0;
  const json document = timeline_of(two_epochs("/a"), false);
  for (const auto& event : document["traceEvents"]) {
    if (event["ph"] != "C") continue;
    ++samples;
    CHECK(event["name"] == "queue depth (loader 1)");
    CHECK(event["args"]["batches"].is_number());
  }
  CHECK(samples == 6);
}

TEST_CASE("a trace without anything makes an empty timeline") {
  MadeTrace made;
  const json document = timeline_of(made.bytes, false);
  CHECK(document["traceEvents"].empty());
}
