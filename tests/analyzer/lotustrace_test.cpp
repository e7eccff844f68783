// The research system's logs, read and written; expected numbers are calculated by hand.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "answers/report/report.hpp"
#include "made_logs.hpp"
#include "paper/lotustrace/exporter.hpp"
#include "text/error.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

namespace {

nlohmann::ordered_json report_of(const ImportedTrace& made) {
  Trace trace(made.file->path());
  return report_json(findings_of(trace));
}

bool names(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

// The error message of `import` for a directory that it cannot use.
std::string refusal(const TemporaryDirectory& directory) {
  try {
    import_logs(directory.path());
  } catch (const Unusable& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("lotustrace: a line") {
  using lotustrace::LineKind;
  std::string expected;
  const auto op = lotustrace::parse_line("SRandomResizedCrop,12,34", expected);
  REQUIRE(op);
  CHECK(op->kind == LineKind::op);
  CHECK(op->op == "RandomResizedCrop");
  CHECK(op->start == 12);
  CHECK(op->duration == 34);
  const std::pair<const char*, LineKind> kinds[] = {
      {"SLoader", LineKind::loader},        {"STransform", LineKind::transform},
      {"SCollation", LineKind::collation},  {"SBatchPreprocessed_7", LineKind::preprocessed},
      {"SBatchWait_7", LineKind::wait},     {"SBatchConsumed_7", LineKind::consumed},
      {"SBatchQueued_7", LineKind::queued}, {"SBatchPinMemory_7", LineKind::pinned}};
  for (const auto& [name, kind] : kinds) {
    const auto parsed = lotustrace::parse_line(std::string(name) + ",1,2", expected);
    REQUIRE(parsed);
    CHECK(parsed->kind == kind);
    CHECK(parsed->batch == (parsed->of_batch() ? 7 : 0));
    CHECK(lotustrace::line_text(*parsed) == std::string(name) + ",1,2\n");
  }
  for (const char* damaged :
       {"", "SLoader", "SLoader,1", "SLoader,1,", "SLoader,a,2", "SLoader,1,-2", "SLoader,1,2,", "Loader,1,2",
        "S,1,2", "SBatchWait_,1,2", "SBatchWait_x,1,2", ",1,2", "1,2"}) {
    CAPTURE(damaged);
    CHECK(!lotustrace::parse_line(damaged, expected));
  }
}

TEST_CASE("lotustrace: every kind of record") {
  const TemporaryDirectory logs;
  write_five_batches(logs, "b512_gpu2");
  const ImportedTrace made = import_logs(logs.path());
  CHECK(made.complaints.empty());
  const auto json = report_of(made);
  const auto& wait = json["wait"];  // 111, early, 592, early, 0.5
  CHECK(wait["count"] == 5);
  CHECK(wait["total_s"] == Approx(0.703502));
  CHECK(wait["stall_percent"] == Approx(100 * 703.502 / 1320));  // ms, from 1 to 1321
  CHECK(wait["out_of_order_percent"] == Approx(40));
  CHECK(wait["over_500ms_percent"] == Approx(20));
  CHECK(wait["over_1ms_percent"] == Approx(40));
  CHECK(wait["under_1ms_in_order_percent"] == Approx(20));
  const auto& delay = json["delay"];  // 8, 642, 4, 1182, 16
  CHECK(delay["count"] == 5);
  CHECK(delay["ms"]["mean"] == Approx(370.4));
  CHECK(delay["over_500ms_percent"] == Approx(40));
  CHECK(delay["under_250ms_percent"] == Approx(60));
  const auto& batches = json["batches"];  // 100, 50, 1180, 60, 4
  CHECK(batches["count"] == 5);
  CHECK(batches["total_s"] == Approx(1.394));
  CHECK(batches["preprocess_ms"]["p50"] == 60);
  CHECK(batches["samples"] == 5);
  CHECK(json["pin"]["count"] == 2);
  CHECK(json["pin"]["ms"]["max"] == 3);
  CHECK(json["queue"]["samples"] == 5);
  CHECK(json["queue"]["max_depth"] == 3);  // one of the four was just taken
  REQUIRE(json["loaders"].size() == 1);
  CHECK(json["loaders"][0]["batch_size"] == 512);
  CHECK(json["loaders"][0]["workers"] == 2);
  CHECK(json["loaders"][0]["pin_memory"] == true);
  REQUIRE(json["workers"].size() == 2);
  CHECK(json["workers"][0]["batches"] == 3);
}

TEST_CASE("lotustrace: operations") {
  const TemporaryDirectory logs;
  write_five_batches(logs, "");
  const auto json = report_of(import_logs(logs.path()));
  REQUIRE(json["ops"].size() == 3);  // Compose does not count as an op
  const auto& crop = json["ops"][0];
  CHECK(crop["name"] == "Crop");
  CHECK(crop["count"] == 7);  // 2, 2, 2, 2, 2, 80, 80
  CHECK(crop["total_s"] == Approx(0.17));
  CHECK(crop["under_10ms_percent"] == Approx(500.0 / 7));
  CHECK(json["ops"][1]["name"] == "Loader");
  CHECK(json["ops"][1]["role"] == "loader");
  CHECK(json["ops"][1]["mean_ms"] == 1);
  CHECK(json["ops"][2]["name"] == "Collation");
  CHECK(json["ops"][2]["under_100us_percent"] == 100);
}

TEST_CASE("lotustrace: a damaged line is named and left out") {
  const TemporaryDirectory logs;
  write_five_batches(logs, "");
  std::string worker = logs.read("log_worker_pid_102");
  const std::size_t second = worker.find('\n') + 1;
  logs.write("log_worker_pid_102", worker.insert(second, "SCrop,17000\n"));
  logs.write("log_main_pid_100",
             logs.read("log_main_pid_100") + "SBatchConsumed_5,17");  // killed in this write
  const ImportedTrace made = import_logs(logs.path());
  REQUIRE(made.complaints.size() == 2);
  CHECK(names(made.complaints[0], "log_main_pid_100:18: 'SBatchConsumed_5,17' is left out: expected NAME,"));
  CHECK(names(made.complaints[1],
              "log_worker_pid_102:2: 'SCrop,17000' is left out: expected NAME,START_NS,DURATION_NS"));
  const auto json = report_of(made);
  CHECK(json["wait"]["count"] == 5);
  CHECK(json["ops"][0]["count"] == 7);
}

TEST_CASE("lotustrace: epochs, in one log and in a directory each") {
  const TemporaryDirectory together;
  const TemporaryDirectory apart;
  write_five_batches(apart, "run/epoch_0");
  write_five_batches(apart, "run/epoch_1", 2000);
  for (const char* file : {"log_main_pid_100", "log_worker_pid_101", "log_worker_pid_102"})
    together.write(file, apart.read(std::string("run/epoch_0/") + file) +
                             apart.read(std::string("run/epoch_1/") + file));
  for (const auto* logs : {&together, &apart}) {
    const ImportedTrace made = import_logs(logs->path());
    CHECK(made.complaints.empty());
    const auto json = report_of(made);
    CHECK(json["wait"]["count"] == 10);
    CHECK(json["delay"]["ms"]["mean"] == Approx(370.4));
    CHECK(json["loaders"].size() == 1);
    CHECK(json["loaders"][0]["epochs"] == 2);
    CHECK(json["loaders"][0]["persistent"] == true);  // the same processes
    CHECK(json["loaders"][0]["in_order"] == true);
    CHECK(json["workers"].size() == 2);
    CHECK(json["ops"][0]["count"] == 14);
  }
}

TEST_CASE(
    "lotustrace: batches that are consumed as they come, and an epoch that ends before its last batch") {
  const TemporaryDirectory logs;
  double at = 0;
  for (const std::vector<int>& epoch : {std::vector{1, 0, 3, 2, 4}, {2, 1, 0}, {0, 2, 1, 4, 3}})
    for (const int batch : epoch) {
      const std::string number = std::to_string(batch);
      logs.write("log_worker_pid_101",
                 logs.read("log_worker_pid_101") + line("SBatchPreprocessed_" + number, at, 8));
      logs.write("log_main_pid_100", logs.read("log_main_pid_100") + line("SBatchWait_" + number, at + 1, 8) +
                                         instant("SBatchConsumed_" + number, at + 9.5));
      at += 10;
    }
  const ImportedTrace made = import_logs(logs.path());
  CHECK(made.complaints.empty());
  const auto json = report_of(made);
  CHECK(json["loaders"][0]["epochs"] == 3);
  CHECK(json["loaders"][0]["batches"] == 13);
  CHECK(json["loaders"][0]["in_order"] == false);
  CHECK(json["wait"]["count"] == 13);
  CHECK(json["wait"]["ms"]["mean"] == Approx(8));
}

TEST_CASE("lotustrace: what cannot be used is named") {
  const TemporaryDirectory empty;
  CHECK(names(refusal(empty), "holds no LotusTrace logs: expected files PREFIX_worker_pid_N"));
  const TemporaryDirectory other;
  other.write("log_worker_pid_7", "hello\nworld\n");
  CHECK(names(refusal(other), "log_worker_pid_7: no line of it is LotusTrace's"));
  const TemporaryDirectory two;
  write_five_batches(two, "");
  two.write("log_main_pid_200", instant("SBatchConsumed_0", 1));
  CHECK(names(refusal(two), "holds logs of two runs, log_main_pid_100 and log_main_pid_200"));
  const TemporaryDirectory prefixes;
  write_five_batches(prefixes, "");
  prefixes.write("other_worker_pid_103", line("SCrop", 1, 2));
  CHECK(names(refusal(prefixes), "with prefixes 'log' and 'other'"));
  const TemporaryDirectory mixed;
  write_five_batches(mixed, "");
  mixed.write("log_worker_pid_103", line("SBatchPreprocessed_1", 12, 30));
  CHECK(names(refusal(mixed), "batch 1 is there once more than there are epochs (1)"));
}

TEST_CASE("lotustrace: configurations") {
  const TemporaryDirectory logs;
  write_five_batches(logs, "b512_gpu4");
  write_five_batches(logs, "resnet_dataloader12");
  const auto runs = lotustrace::find_runs({logs.path()});
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].configuration.batch_size == 512);
  CHECK(runs[0].configuration.ranks == 4);
  CHECK(runs[1].configuration.workers == 12);
}

TEST_CASE("lotustrace: what names of directories say") {
  using lotustrace::parse_configuration;
  const auto long_name = parse_configuration("/logs/resnet_b4_gpu1_worker2_again");
  CHECK(long_name.batch_size == 4);
  CHECK(long_name.ranks == 1);
  CHECK(long_name.workers == 2);
  CHECK(parse_configuration("classification_b32_w4_e1_n512").batch_size == 32);
  CHECK(parse_configuration("classification_b32_w4_e1_n512").workers == 4);
  for (const char* name :
       {"logs", "lab_gpu_run", "worker", "workers_of_mine", "dataloader", "weights", "b2b"}) {
    const auto unknown = parse_configuration(name);
    CHECK(unknown.batch_size + unknown.ranks + unknown.workers == 0);
    CHECK_FALSE(unknown.damaged);
  }
  for (const char* name : {"b_gpu2", "b512_gpu", "b512_gpux", "b0_gpu1", "b99999999999999999999_gpu1",
                           "shufflenet_dataloader", "x_dataloadery"})
    CHECK(parse_configuration(name).damaged);
}

TEST_CASE("lotustrace: without a DataLoader's workers there are operations only") {
  const TemporaryDirectory logs;
  logs.write("log_worker_pid_9",
             line("SLoad", 1, 2) + line("SFlip", 3, 1) + line("SLoad", 5, 2) + line("SFlip", 7, 1));
  const auto json = report_of(import_logs(logs.path()));
  REQUIRE(json["ops"].size() == 2);
  CHECK(json["ops"][0]["count"] == 2);
  CHECK(json["batches"]["count"] == 0);
}

TEST_CASE("lotustrace: no process has the number 0") {
  const TemporaryDirectory logs;
  logs.write("log_main_pid_0", line("SBatchWait_0", 1, 2));
  CHECK(names(refusal(logs), "holds no LotusTrace logs"));
}

TEST_CASE("lotustrace: a training process that makes batches itself does one thing after the other") {
  const TemporaryDirectory logs;
  logs.write("log_worker_pid_100", line("SCrop", 1, 2) + line("SBatchPreprocessed_0", 0, 5) +
                                       line("SCrop", 11, 9) + line("SBatchPreprocessed_1", 10, 12));
  logs.write("log_main_pid_100", line("SBatchWait_0", 0, 5) + instant("SBatchQueued_0", 2) +
                                     instant("SBatchConsumed_0", 5) + line("SBatchWait_1", 10, 6) +
                                     instant("SBatchConsumed_1", 16));
  const ImportedTrace made = import_logs(logs.path());
  REQUIRE(made.complaints.size() == 2);  // one for the batch, one for its sample with the operation
  CHECK(names(made.complaints[0], "log_worker_pid_100:4: ends after the wait for its batch has ended"));
  Trace trace(made.file->path());
  Seen seen;
  CHECK(show(trace, seen).unmatched_leaves == 0);
  for (const auto& span : seen.spans) CHECK(span.ms <= 6);
}

TEST_CASE("lotustrace: records inside each other without end make no trace without end") {
  const TemporaryDirectory logs;
  std::string worker;
  for (int i = 0; i < 20'000; ++i) worker += line("SCrop", 1, 2);
  logs.write("log_worker_pid_9", worker);
  const ImportedTrace made = import_logs(logs.path());
  CHECK(made.complaints.size() == lotustrace::Complaints::kTold);
  CHECK(names(made.complaints[0], "lies inside too many"));
  Trace trace(made.file->path());
  Seen seen;
  CHECK(show(trace, seen).damage.count == 0);
  CHECK(seen.spans.size() == 256 + 1);  // 1 for worker_loop
}

TEST_CASE("lotustrace: export writes what was imported, line for line") {
  const TemporaryDirectory logs;
  write_five_batches(logs, "");
  const ImportedTrace made = import_logs(logs.path());
  const TemporaryDirectory again;
  Trace trace(made.file->path());
  lotustrace::LogWriter writer(again.path());
  lotustrace::Exporter exporter(trace, writer, "log", "");
  show(trace, exporter);
  exporter.finish();
  writer.close();
  for (const char* file : {"log_main_pid_100", "log_worker_pid_101", "log_worker_pid_102"})
    CHECK(again.read(file) == logs.read(file));
}

TEST_CASE("lotustrace: names that a line cannot hold") {
  lotustrace::Line line;
  line.op = "a,b\nc";
  CHECK(lotustrace::line_text(line) == "Sa_b_c,0,0\n");
}

TEST_CASE("lotustrace: an export goes to a new directory") {
  const TemporaryDirectory full;
  full.write("note", "text");
  CHECK_THROWS_AS(lotustrace::LogWriter(full.path()), Unusable);
}
