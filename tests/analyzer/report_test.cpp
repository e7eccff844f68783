// Every number of the report, for a run whose results are calculated by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "answers/replay/answer.hpp"
#include "answers/replay/recorder.hpp"
#include "answers/report/collector.hpp"
#include "answers/report/report.hpp"
#include "answers/report/verdict.hpp"
#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

void fetch(ThreadWriter& worker, double from, double to, std::uint64_t batch) {
  worker.record<Kind::fetch>(at(from), 0, 0, batch);
  span<Kind::op>(worker, from, from + 0.05, 1);   // under 100 µs
  span<Kind::op>(worker, from + 1, from + 3, 2);  // under 10 ms
  if (to - from > 90) span<Kind::op>(worker, from + 4, from + 84, 2);
  worker.record<Kind::leave>(at(to));
}

template <class Gets>
void next(ThreadWriter& main, double from, double consume, double to, std::uint64_t batch, Gets gets) {
  main.record<Kind::next>(at(from), 1, 0);
  main.record<Kind::wait>(at(from), 1, 0);
  gets();
  span<Kind::consume>(main, consume, to, 1, 0, batch);
  main.record<Kind::leave>(at(to));
  main.record<Kind::leave>(at(to));
}

// Two workers, five batches. T1: 100, 50, 1180, 60, 4. Waits: 111, early, 592, early, 0.5.
// Consumed − fetched: 118 − 110, 702 − 60, 1304 − 1300, 1312 − 130, 1321 − 1305.
Bytes five_batches() {
  MadeTrace made;
  made.loader(1, 2);
  made.iterator(1, 1);
  const std::uint32_t first = made.worker(1, 0);
  const std::uint32_t second = made.worker(1, 1);
  for (const std::uint32_t worker : {first, second}) {
    made.op(worker, 1, OpRole::loader, "Loader");
    made.op(worker, 2, OpRole::transform, "Crop");
  }
  ThreadWriter w0(made, first, 1);
  ThreadWriter w1(made, second, 1);
  ThreadWriter main(made, 1, 1);
  w0.record<Kind::worker_loop>(at(0), 0, 2);
  w1.record<Kind::worker_loop>(at(0), 1, 2);
  fetch(w0, 10, 110, 0);
  fetch(w1, 10, 60, 1);
  fetch(w1, 70, 130, 3);
  fetch(w0, 120, 1300, 2);
  fetch(w0, 1301, 1305, 4);
  next(main, 5, 117, 118, 0, [&] {
    get(main, 6, 66, 1, 0, 1, 0);
    get(main, 67, 116, 1, 0, 0, 0);
  });
  next(main, 700, 701, 702, 1, [] {});
  next(main, 710, 1303, 1304, 2, [&] {
    get(main, 711, 712, 1, 0, 3, 2);
    get(main, 713, 1302, 1, 0, 2, 2);
  });
  next(main, 1310, 1311, 1312, 3, [] {});
  next(main, 1320, 1320.8, 1321, 4, [&] { get(main, 1320.2, 1320.5, 1, 0, 4, 4); });
  main.record<Kind::next>(at(1330), 1, 0);
  main.record<Kind::leave_empty>(at(1331));
  w0.record<Kind::leave>(at(1400));
  w1.record<Kind::leave>(at(1400));
  for (ThreadWriter* thread : {&main, &w0, &w1}) thread->flush();
  made.close();
  return made.bytes;
}

nlohmann::ordered_json report_of(const Bytes& bytes) {
  const TemporaryFile file(bytes);
  Trace trace(file.path());
  return report_json(findings_of(trace));
}

using doctest::Approx;

}  // namespace

TEST_CASE("preprocessing") {
  const auto json = report_of(five_batches())["batches"];
  CHECK(json["count"] == 5);
  CHECK(json["total_s"] == Approx(1.394));
  const auto& ms = json["preprocess_ms"];
  CHECK(ms["mean"] == Approx(278.8));
  CHECK(ms["std"] == Approx(451.634543).epsilon(1e-6));
  CHECK(ms["min"] == Approx(4));
  CHECK(ms["p25"] == Approx(50));
  CHECK(ms["p50"] == Approx(60));
  CHECK(ms["p75"] == Approx(100));
  CHECK(ms["p90"] == Approx(748));
  CHECK(ms["p99"] == Approx(1136.8));
  CHECK(ms["max"] == Approx(1180));
  CHECK(json["std_percent"] == Approx(161.992304).epsilon(1e-6));
  CHECK(json["iqr_ms"] == Approx(50));
  CHECK(json["trimmed"]["count"] == 5);  // nothing is below 50 − 2·50
}

TEST_CASE("waits, out of order, delays") {
  const auto json = report_of(five_batches());
  const auto& wait = json["wait"];
  CHECK(wait["count"] == 5);
  CHECK(wait["total_s"] == Approx(0.703502));  // 111 + 592 + 0.5 ms + 2 · 1000 ns
  CHECK(wait["stall_percent"] == Approx(100 * 703.502 / 1400));
  CHECK(wait["out_of_order_percent"] == Approx(40));
  CHECK(wait["over_500ms_percent"] == Approx(20));
  CHECK(wait["over_1ms_percent"] == Approx(40));
  CHECK(wait["under_1ms_in_order_percent"] == Approx(20));
  CHECK(wait["ms"]["min"] == Approx(0.001));
  CHECK(wait["ms"]["p50"] == Approx(0.5));
  CHECK(wait["ms"]["max"] == Approx(592));
  const auto& delay = json["delay"];  // 8, 642, 4, 1182, 16
  CHECK(delay["count"] == 5);
  CHECK(delay["ms"]["mean"] == Approx(370.4));
  CHECK(delay["ms"]["p50"] == Approx(16));
  CHECK(delay["over_500ms_percent"] == Approx(40));
  CHECK(delay["under_250ms_percent"] == Approx(60));
}

TEST_CASE("training steps, queue, verdict") {
  const auto json = report_of(five_batches());
  const auto& step = json["train_step_ms"];  // 118–700, 702–710, 1304–1310, 1312–1320, 1321–1330
  CHECK(step["max"] == Approx(582));
  CHECK(step["p50"] == Approx(8));
  CHECK(step["mean"] == Approx(613.0 / 5));
  CHECK(json["queue"]["mean_depth"] == Approx(2));
  const auto& verdict = json["verdict"];
  const double next = 113 + 2 + 594 + 2 + 1 + 1;
  CHECK(verdict["waited_percent"] == Approx(100 * next / (1331 - 5)));
  CHECK(verdict["bound"] == "input");
  CHECK(verdict["workers"] == 2);
  CHECK(verdict["workers_needed"] == 3);  // 278.8 / 122.6
  CHECK(verdict["message"].get<std::string>().find("3 workers instead of 2") != std::string::npos);
}

TEST_CASE("ops") {
  const auto json = report_of(five_batches());
  REQUIRE(json["ops"].size() == 2);
  const auto& crop = json["ops"][0];
  CHECK(crop["name"] == "Crop");
  CHECK(crop["count"] == 7);  // 2, 2, 2, 2, 2, 80, 80
  CHECK(crop["total_s"] == Approx(0.17));
  CHECK(crop["mean_ms"] == Approx(170.0 / 7));
  CHECK(crop["median_ms"] == Approx(2));
  CHECK(crop["p90_ms"] == Approx(80));
  CHECK(crop["std_ms"] == Approx(std::sqrt((5 * 4 + 2 * 6400) / 7.0 - std::pow(170 / 7.0, 2))));
  CHECK(crop["under_10ms_percent"] == Approx(500.0 / 7));
  CHECK(crop["under_100us_percent"] == Approx(0));
  CHECK(crop["share_percent"] == Approx(17000 / 1394.0));
  CHECK(crop["cpu_s"].is_null());  // no CPU time was measured
  CHECK(crop["role"] == "transform");
  CHECK(crop["qualified"] == "module.Crop");
  const auto& loader = json["ops"][1];
  CHECK(loader["under_100us_percent"] == Approx(100));
  CHECK(json["outside_ops_s"] == Approx(1.394 - 0.17 - 5 * 0.00005));
}

TEST_CASE("workers, loaders, trace") {
  const auto json = report_of(five_batches());
  REQUIRE(json["workers"].size() == 2);
  CHECK(json["workers"][0]["pid"] == 101);
  CHECK(json["workers"][0]["id"] == 0);
  CHECK(json["workers"][0]["batches"] == 3);
  CHECK(json["workers"][0]["busy_percent"] == Approx(100 * 1284.0 / 1400));
  CHECK(json["workers"][1]["busy_percent"] == Approx(100 * 110.0 / 1400));
  REQUIRE(json["loaders"].size() == 1);
  CHECK(json["loaders"][0]["batches"] == 5);
  CHECK(json["loaders"][0]["epochs"] == 1);
  const auto& trace = json["trace"];
  CHECK(trace["files"] == 1);
  CHECK(trace["processes"] == 3);
  CHECK(trace["workers"] == 2);
  CHECK(trace["duration_s"] == Approx(1.4));
  CHECK(trace["lost_events"] == 0);
  CHECK(trace["truncated"] == false);
  // 40 ns per pair, and at most 1.5 µs more for each record that comes after a pause, relative to the
  // workers' fetches (1394 ms) and the training loop (1326 ms).
  const double pairs = trace["events"].get<double>() / 2;
  CHECK(pairs > 30);
  const double own = trace["overhead_percent"];
  CHECK(own > 0);
  CHECK(own > 100 * pairs * 40 / 2720e6);
  CHECK(own <= 100 * pairs * (40 + 2 * 1500) / 2720e6);
}

TEST_CASE("several traces are summed") {
  const TemporaryFile a(five_batches());
  const TemporaryFile b(five_batches());
  Trace first(a.path());
  Trace second(b.path());
  FindingsCollector collector;
  for (Trace* trace : {&first, &second}) {
    collector.begin(*trace);
    collector.end(show(*trace, collector));
  }
  const auto json = report_json(collector.take());
  CHECK(json["trace"]["files"] == 2);
  CHECK(json["batches"]["count"] == 10);
  CHECK(json["ops"].size() == 2);
  CHECK(json["ops"][0]["count"] == 14);
  CHECK(json["workers"].size() == 4);
  CHECK(json["loaders"].size() == 2);
  CHECK(json["wait"]["stall_percent"] == Approx(100 * 703.502 / 1400));
  CHECK(json["verdict"]["waited_percent"] == Approx(100 * 713.0 / 1326));
}

TEST_CASE("the slowest samples come first, ten of them") {
  MadeTrace made;
  const std::uint32_t number = made.worker(1, 0);
  made.op(number, 1, OpRole::loader, "Loader");
  made.op(number, 2, OpRole::transform, "Slow");
  ThreadWriter worker(made, number, 1);
  double t = 0;
  for (int i = 0; i < 50; ++i) {
    const double slow = i == 17 ? 30 : 0;
    worker.record<Kind::sample>(at(t), i);
    worker.path(at(t), "/data/" + std::to_string(i));
    span<Kind::op>(worker, t, t + 1, 1);
    span<Kind::op>(worker, t + 1, t + 1.5 + slow, 2);
    t += 2 + slow + 0.01 * i;
    worker.record<Kind::leave>(at(t));
  }
  worker.flush();
  made.close();
  const auto slow = report_of(made.bytes)["slow_samples"];
  REQUIRE(slow.size() == 10);
  CHECK(slow[0]["path"] == "/data/17");
  CHECK(slow[0]["index"] == 17);
  CHECK(slow[0]["op"] == "Slow");
  CHECK(slow[1]["index"] == 49);
  CHECK(slow[1]["op"] == "Loader");
  CHECK(slow[9]["index"] == 41);
}

TEST_CASE("what a process was in when it ended") {
  MadeTrace made;
  const std::uint32_t cut = made.worker(1, 0), idle = made.worker(2, 1), running = made.worker(3, 2);
  made.op(cut, 1, OpRole::transform, "Resize");
  for (const std::uint32_t number : {cut, idle, running}) {
    ThreadWriter thread(made, number, 1);
    thread.record<Kind::worker_loop>(at(0), 0, 3);
    span<Kind::fetch>(thread, 1, 6, 0, 0, number);
    if (number != idle) {
      thread.record<Kind::fetch>(at(7), 0, 0, 4);
      thread.record<Kind::sample>(at(11), 5);
      thread.path(at(12), "/data/5");
      thread.record<Kind::op>(at(13), 1);
    }
    thread.flush();
    ThreadWriter feeder(made, number, 2);
    feeder.record<Kind::send>(at(7), 1);
    feeder.flush();
    ProcessEndFrame end{};
    end.seen = pair_at(100);
    if (number != running) made.process_end(number, end);
  }
  made.trailer(pair_at(101));
  const auto list = report_of(made.bytes)["cut_short"];
  REQUIRE(list.size() == 1);
  CHECK(list[0]["pid"] == 101);
  CHECK(list[0]["worker"] == 0);
  CHECK(list[0]["in"] == "Resize");
  CHECK(list[0]["at_most_ms"] == Approx(87));
  CHECK(list[0]["batch"] == 4);
  CHECK(list[0]["index"] == 5);
  CHECK(list[0]["path"] == "/data/5");
}

TEST_CASE("losses are reported") {
  MadeTrace made;
  const std::uint32_t number = made.worker(1, 0);
  ThreadWriter worker(made, number, 1);
  span<Kind::fetch>(worker, 1, 2, 0, 0, 0);
  worker.drop();
  span<Kind::fetch>(worker, 3, 4, 0, 0, 1);
  worker.flush();
  ProcessEndFrame end{};
  end.seen = pair_at(10);
  end.lost_events = 7;
  end.lost_definitions = 3;
  made.process_end(number, end);
  made.trailer(pair_at(11));
  const auto trace = report_of(made.bytes)["trace"];
  CHECK(trace["lost_events"] == 7);
  CHECK(trace["lost_definitions"] == 3);
  CHECK(trace["gaps"] == 1);
}

TEST_CASE("operations of a fetch are added up, however many they are") {
  RunningOps running;
  for (int round = 0; round < 3; ++round)
    for (std::uint32_t op = 0; op < 1000; ++op) running.add(op, static_cast<float>(op));
  const auto times = running.take();
  REQUIRE(times.size() == 1000);
  for (const OpTime& time : times) CHECK(time.ns == 3 * static_cast<float>(time.op));
  CHECK(running.take().empty());
}

namespace {

// A worker that needs 10 ms per batch: 8 ms in Outer, 3 ms of these in Inner. A training step takes 2 ms.
Bytes starving_run() {
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  const std::uint32_t number = made.worker(1, 0);
  made.op(number, 1, OpRole::transform, "Outer");
  made.op(number, 2, OpRole::transform, "Inner");
  ThreadWriter worker(made, number, 1);
  ThreadWriter main(made, 1, 1);
  for (std::uint64_t i = 0; i < 40; ++i) {
    const double from = 10.0 * static_cast<double>(i);
    worker.record<Kind::fetch>(at(from), 0, 0, i);
    worker.record<Kind::sample>(at(from + 1), static_cast<std::int64_t>(i));
    worker.record<Kind::op>(at(from + 1), 1);
    span<Kind::op>(worker, from + 2, from + 5, 2);
    worker.record<Kind::leave>(at(from + 9));
    worker.record<Kind::leave>(at(from + 9));
    worker.record<Kind::leave>(at(from + 10));
    main.record<Kind::next>(at(from + 2), 1, 0);
    main.record<Kind::wait>(at(from + 2), 1, 0);
    get(main, from + 2, from + 10, 1, 0, i, i);
    span<Kind::consume>(main, from + 10, from + 10, 1, 0, i);
    main.record<Kind::leave>(at(from + 10));
    main.record<Kind::leave>(at(from + 10));
  }
  worker.flush();
  main.flush();
  made.close(1000);
  return made.bytes;
}

}  // namespace

TEST_CASE("the workers that are needed are those that the advice names") {
  const TemporaryFile file(starving_run());
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  const Verdict verdict = verdict_of(findings);
  std::optional<std::uint64_t> advised;
  for (const auto& advice : verdict.diagnosis.advice)
    if (advice.action == "workers") advised = std::stoull(advice.change);
  CAPTURE(verdict.message);
  REQUIRE(advised.has_value());
  CHECK(report_json(findings)["verdict"]["workers_needed"] == *advised);
}

TEST_CASE(
    "where batches wait for cores, the first advice says that the machine is busy, whatever it advises") {
  const TemporaryFile file(starving_run());
  Trace trace(file.path());
  Findings findings = findings_of(trace);
  Recording& recording = findings.recordings.at(0);
  const auto first = [&](double core_wait) {  // as a share of the time in which a fetch does not compute
    for (auto& epoch : recording.epochs)
      for (auto& batch : epoch.batches) {
        batch.fetch_cpu = 0.4 * batch.fetch;
        batch.core_wait = core_wait * (batch.fetch - batch.fetch_cpu);
      }
    findings.core_wait = {core_wait * 0.6, 1};
    return diagnosis_of(Case(findings)).advice.at(0);
  };
  const auto times_told = [](const std::string& text) {
    std::size_t count = 0;
    for (auto at = text.find("machine is busy"); at != text.npos; at = text.find("machine is busy", at + 1))
      ++count;
    return count;
  };
  CHECK(first(0).action == "workers");
  CHECK(times_told(first(0).message) == 0);
  CHECK(times_told(first(0.9).message) == 1);
  CHECK(first(0.9).message.find("waits for a core for 54.0 %") != std::string::npos);
  // Helpers compute while the thread waits: what it waits is what the report's own row says.
  CHECK(first(1.3).message.find("computes for 22.0 % of its time, and waits for a core for 78.0 %") !=
        std::string::npos);
  recording.loader.workers = 0;
  CAPTURE(first(0.9).message);
  CHECK(first(0.9).message.find("makes its batches itself") != std::string::npos);
  CHECK(times_told(first(0.9).message) == 1);
  recording.loader.workers = 1;
  for (auto& epoch : recording.epochs)  // steps so long that the loader does not matter
    for (auto& step : epoch.steps) step.wall = 1e9;
  recording.achieved.next = 0;
  CAPTURE(first(0.9).message);
  CHECK(times_told(first(0.9).message) == 0);
}

TEST_CASE("whatif says which operations keep their time inside of one that is changed") {
  const TemporaryFile file(starving_run());
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  REQUIRE(findings.recordings.size() == 1);
  const Recording& recording = findings.recordings.front();
  CHECK(nested_in(recording, "Outer") == std::vector<std::string>{"Inner"});
  CHECK(nested_in(recording, "Inner").empty());
  const Replay replay(recording);
  Question question;
  question.ops.push_back({"Outer", {.factor = 0, .ns = {}}, false});
  const auto notes_with = [&](const std::string& part) {
    std::size_t count = 0;
    for (const auto& note : answer_of(replay, question).notes) count += note.find(part) != std::string::npos;
    return count;
  };
  CHECK(notes_with("Inner keep their time") == 1);
  question.ops.push_back({"Inner", {.factor = 0, .ns = {}}, false});
  CHECK(notes_with("keep their time") == 0);
}

TEST_CASE(
    "a loader that is made anew for each epoch keeps no workers, persistent or not: the advice is to keep "
    "it") {
  const TemporaryFile file(starving_run());
  Trace trace(file.path());
  Findings findings = findings_of(trace);
  Recording& recording = findings.recordings.at(0);
  RecordedEpoch epoch = recording.epochs.at(0);
  epoch.start = 500e6;
  epoch.ready.assign(recording.loader.workers, 600e6);  // ns; a batch takes 10e6
  recording.epochs.assign(4, epoch);
  recording.all_epochs = 4;
  recording.batches *= 4;
  const Achieved once = recording.achieved;
  recording.achieved = {4 * once.images, 4 * (once.time + 600e6), 4 * (once.loop + 100e6),
                        4 * (once.next + 100e6)};
  recording.loader.persistent = true;
  const auto change = [&](std::uint64_t made) {
    recording.loader.made = made;
    for (const Advice& advice : diagnosis_of(Case(findings)).advice)
      if (advice.action == "persistent") return advice.change;
    return std::string();
  };
  CHECK(settings_of(recording, {}).persistent);
  CHECK(change(1).empty());
  CHECK(change(4) == "keeping the loader, persistent_workers=True");
  CHECK_FALSE(settings_of(recording, {}).persistent);
  recording.loader.persistent = false;
  CHECK(change(1) == "persistent_workers=True");
}
