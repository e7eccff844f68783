// The table of causes: what each row asks for, and which of several is told first.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "answers/causes/diagnosis.hpp"
#include "answers/causes/rows.hpp"
#include "answers/report/activity.hpp"
#include "answers/report/collector.hpp"
#include "answers/report/file_formats.hpp"
#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

// One worker that makes a batch in 10 ms, all of it in the dataset's own code. A training step takes 2 ms.
Bytes waiting_run(int batches) {
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  ThreadWriter worker(made, made.worker(1, 0), 1);
  ThreadWriter main(made, 1, 1);
  for (int i = 0; i < batches; ++i) {
    const double from = 10.0 * i;
    const auto batch = static_cast<std::uint64_t>(i);
    worker.record<Kind::fetch>(at(from), 0, 0, batch);
    span<Kind::sample>(worker, from, from + 10, i);
    worker.record<Kind::leave>(at(from + 10));
    main.record<Kind::next>(at(from + 2), 1, 0);
    main.record<Kind::wait>(at(from + 2), 1, 0);
    get(main, from + 2, from + 10, 1, 0, batch, batch);
    span<Kind::consume>(main, from + 10, from + 10, 1, 0, batch);
    main.record<Kind::leave>(at(from + 10));
    main.record<Kind::leave>(at(from + 10));
  }
  worker.flush();
  main.flush();
  made.close(1000);
  return made.bytes;
}

Diagnosis diagnosis_of_run(int batches) {
  const TemporaryFile file(waiting_run(batches));
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  return diagnosis_of(Case(findings));
}

}  // namespace

TEST_CASE("each cause has one row, and names are not used twice") {
  std::set<std::string> names;
  std::set<Cause> found;
  for (const CauseRow& row : causes()) {
    CHECK(names.insert(row.name).second);
    CHECK(found.insert(row.cause).second);
  }
  CHECK(found.size() == static_cast<std::size_t>(Cause::unknown) + 1);
}

TEST_CASE("a run that is too short to replay has a cause by the same rows, and no prediction") {
  const Diagnosis diagnosis = diagnosis_of_run(4);
  CHECK(!diagnosis.error);
  CHECK(diagnosis.cause() == Cause::workers);
  CHECK(!diagnosis.held.front().judgement.evidence.empty());
  for (const Advice& advice : diagnosis.advice) CHECK(!advice.prediction);
}

TEST_CASE("each row judges a run: it holds, or it says why not") {
  for (const int batches : {4, 40}) {
    const Diagnosis diagnosis = diagnosis_of_run(batches);
    std::set<Cause> judged;
    for (const auto& row : diagnosis.held) judged.insert(row.cause);
    for (const auto& row : diagnosis.ruled_out) {
      CAPTURE(name_of(row.cause));
      CHECK(!row.judgement.words.empty());
      CHECK(judged.insert(row.cause).second);
    }
    for (const CauseRow& row : causes())
      if (row.place == Place::ranked) CHECK(judged.contains(row.cause));
  }
}

TEST_CASE("an advice whose interval holds no gain is not told") {
  const TemporaryFile file(waiting_run(40));
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  for (const Advice& advice : diagnosis_of(Case(findings)).advice)
    if (advice.action != "none")
      CHECK(advice.prediction->images_per_s.low > findings.recordings.front().achieved.images_per_s());
}

namespace {

// The findings of that run, to be changed.
struct Run {
  TemporaryFile file{waiting_run(40)};
  Trace trace{file.path()};
  Findings findings = findings_of(trace);

  Recording& recording() { return findings.recordings.front(); }
  template <class Edit>
  void each_batch(Edit edit) {
    for (auto& epoch : recording().epochs)
      for (auto& batch : epoch.batches) edit(batch);
  }
  // So many workers, of which each made as many batches as the others.
  void set_workers(std::uint64_t count) {
    recording().loader.workers = count;
    recording().slowness.assign(count, 1);
    for (auto& epoch : recording().epochs) epoch.ready.assign(count, 0);
    std::uint32_t next = 0;
    each_batch([&](RecordedBatch& batch) { batch.worker = next++ % static_cast<std::uint32_t>(count); });
  }
};

Judgement judged(Judgement (*judge)(const Case&), const Run& run) { return judge(Case(run.findings)); }

}  // namespace

TEST_CASE("iterators: many are made, and left after a batch") {
  const auto run_of = [](int iterators, int batches) {
    MadeTrace made;
    made.loader(1, 1);
    ThreadWriter main(made, 1, 1);
    double now = 0;
    for (int i = 0; i < iterators; ++i) {
      const auto id = static_cast<std::uint64_t>(i + 1);
      made.iterator(id, 1);
      ThreadWriter worker(made, made.worker(id, 0, now + 1), 1);
      for (int k = 0; k < batches; ++k) {
        const auto batch = static_cast<std::uint64_t>(k);
        span<Kind::fetch>(worker, now + 40, now + 45, 0, 0, batch);
        main.record<Kind::next>(at(now), id, 0);
        main.record<Kind::wait>(at(now), id, 0);
        get(main, now + 1, now + 50, id, 0, batch, batch);
        span<Kind::consume>(main, now + 50, now + 50, id, 0, batch);
        main.record<Kind::leave>(at(now + 50));
        main.record<Kind::leave>(at(now + 50));
        now += 60;
      }
      worker.flush();
    }
    main.flush();
    made.close(10'000);
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    const Findings findings = findings_of(trace);
    return diagnosis_of(Case(findings)).cause();
  };
  CHECK(run_of(10, 1) == Cause::iterators);
  CHECK(run_of(3, 1) != Cause::iterators);
  CHECK(run_of(10, 8) != Cause::iterators);
}

TEST_CASE("sampler: __next__ works itself, beside waiting") {
  const auto run_of = [](double own) {  // ms of 10
    MadeTrace made;
    made.loader(1, 1);
    made.iterator(1, 1);
    ThreadWriter worker(made, made.worker(1, 0), 1);
    ThreadWriter main(made, 1, 1);
    for (int i = 0; i < 40; ++i) {
      const double from = 12.0 * i;
      const auto batch = static_cast<std::uint64_t>(i);
      worker.record<Kind::fetch>(at(from + 1), 0, 0, batch);
      span<Kind::sample>(worker, from + 1, from + 1 + (10 - own) / 2, i);
      worker.record<Kind::leave>(at(from + 1 + (10 - own) / 2));
      main.record<Kind::next>(at(from), 1, 0);
      main.record<Kind::wait>(at(from), 1, 0);
      get(main, from + own, from + 10, 1, 0, batch, batch);
      span<Kind::consume>(main, from + 10, from + 10, 1, 0, batch);
      main.record<Kind::leave>(at(from + 10));
      main.record<Kind::leave>(at(from + 10));
    }
    worker.flush();
    main.flush();
    made.close(1000);
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    const Findings findings = findings_of(trace);
    return judge_sampler(Case(findings)).holds;
  };
  CHECK(run_of(9));
  CHECK_FALSE(run_of(0.5));
}

TEST_CASE("lock: workers take turns, and more of them are not advised") {
  Run run;
  run.set_workers(4);
  run.each_batch([](RecordedBatch& batch) { batch.fetch_cpu = 0; });
  run.recording().turns = {1000, 10};
  CHECK_FALSE(judged(judge_lock, run).holds);  // they may have waited for cores
  run.each_batch([](RecordedBatch& batch) { batch.core_wait = 0; });
  CHECK(judged(judge_lock, run).holds);
  CHECK(Case(run.findings).trials()->find("workers") == nullptr);
  run.recording().turns = {1000, 300};
  CHECK_FALSE(judged(judge_lock, run).holds);
  run.recording().turns = {1000, 10};
  run.each_batch([](RecordedBatch& batch) { batch.fetch_cpu = batch.fetch; });
  CHECK_FALSE(judged(judge_lock, run).holds);
}

TEST_CASE("taking turns is read off the ends of samples") {
  const auto turns_of = [](double shift) {  // ms, of the second worker's samples of 10 ms
    MadeTrace made;
    made.loader(1, 2);
    made.iterator(1, 1);
    ThreadWriter first(made, made.worker(1, 0), 1);
    ThreadWriter second(made, made.worker(1, 1), 1);
    ThreadWriter main(made, 1, 1);
    for (int i = 0; i < 40; ++i) {
      span<Kind::sample>(first, 10.0 * i, 10.0 * i + 10, i);
      span<Kind::sample>(second, 10.0 * i + shift, 10.0 * i + shift + 10, i);
    }
    span<Kind::next>(main, 0, 1, 1, 0);
    for (ThreadWriter* thread : {&first, &second, &main}) thread->flush();
    made.close(1000);
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    return findings_of(trace).recordings.at(0).turns;
  };
  CHECK(turns_of(5).gaps >= 50);
  CHECK(turns_of(5).close == 0);
  CHECK(turns_of(1).close > turns_of(1).gaps / 4);
}

TEST_CASE("idle workers: an epoch to its end, and some made nothing") {
  Run run;
  run.set_workers(4);
  run.findings.cores = 8;
  run.recording().epochs.front().finished = true;
  CHECK_FALSE(judged(judge_idle_workers, run).holds);
  run.each_batch([](RecordedBatch& batch) { batch.worker = 0; });
  CHECK(judged(judge_idle_workers, run).holds);
  run.findings.cores = 1;  // which the one that works fills
  CHECK_FALSE(judged(judge_idle_workers, run).holds);
  run.findings.cores = 8;
  run.recording().epochs.front().finished = false;  // the others' turn may have been to come
  CHECK_FALSE(judged(judge_idle_workers, run).holds);
}

TEST_CASE("transfer: batches are written to the pipe") {
  Run run;
  run.each_batch([](RecordedBatch& batch) {
    batch.fetch = batch.fetch_cpu = 0.1e6;
    batch.transfer = batch.pipe = batch.joint = 9.9e6;
  });
  CHECK(judged(judge_transfer, run).holds);
  CHECK(judged(judge_transfer, run).words.find("pipe") != std::string::npos);
  run.each_batch([](RecordedBatch& batch) { batch.transfer = batch.pipe = 0.1e6; });
  CHECK_FALSE(judged(judge_transfer, run).holds);
}

TEST_CASE("transfer: receiving takes long, of one tensor or of many") {
  Run run;
  run.each_batch([](RecordedBatch& batch) {
    batch.fetch = batch.fetch_cpu = 0.1e6;
    batch.receive = 9.9e6;
  });
  for (int i = 0; i < 40; ++i) run.findings.serialize.add(1e6);
  run.findings.bytes = 40 * (350 + 1e6);
  CHECK(judged(judge_transfer, run).holds);  // an older trace: how many tensors is not known
  run.findings.storages = 40;
  run.findings.storage_bytes = 40 * 1e6;
  CHECK_FALSE(judged(judge_transfer, run).holds);
  CHECK(judged(judge_transfer, run).words.find("one tensor, or two") != std::string::npos);
  run.findings.bytes += 40 * 1e5;  // beside it, objects
  CHECK(judged(judge_transfer, run).holds);
  run.findings.storages = 40 * 100;
  run.findings.bytes = 40 * (100 * 350 + 1e6);
  CHECK(judged(judge_transfer, run).holds);
}

TEST_CASE("batching: many samples that take no time by themselves") {
  Run run;
  run.findings.sample = {};
  for (int i = 0; i < 40 * 1000; ++i) run.findings.sample.add(3000);
  CHECK(judged(judge_batching, run).holds);
  run.findings.sample = {};
  for (int i = 0; i < 40 * 8; ++i) run.findings.sample.add(3000);
  CHECK_FALSE(judged(judge_batching, run).holds);
}

TEST_CASE("page_cache: the first epoch reads from storage, and waits for it") {
  Run run;
  LoaderFinding& loader = run.findings.loaders.front();
  loader.first_epoch = {10, 10, 10 * 60e6, 10 * 50e6, 512e6, 8e8, 9e8};
  loader.later_epochs = {40, 40, 40 * 8e6, 0, 0, 1e8, 5e8};
  loader.loop = 14e8;
  CHECK(judged(judge_page_cache, run).holds);
  CHECK(judged(judge_page_cache, run).words.find("epoch 0: 60.0 ms a batch, later 8.00 ms") !=
        std::string::npos);
  CHECK(diagnosis_of(Case(run.findings)).cause() == Cause::page_cache);
  CHECK(diagnosis_of(Case(run.findings)).advice.size() == 1);  // no prediction from a mean of both
  loader.later_epochs.read = 512e6;                            // a quarter of it for each batch
  CHECK(judged(judge_page_cache, run).holds);
  loader.later_epochs.read = 4 * 512e6;
  CHECK_FALSE(judged(judge_page_cache, run).holds);
  loader.later_epochs.read = std::nullopt;
  CHECK_FALSE(judged(judge_page_cache, run).holds);
  loader.later_epochs.read = 0;
  loader.first_epoch.idle = 0;  // it computed, as what a dataset keeps for later
  CHECK_FALSE(judged(judge_page_cache, run).holds);
  loader.first_epoch.idle = 10 * 50e6;
  loader.loop = 1000e8;  // many later epochs
  CHECK_FALSE(judged(judge_page_cache, run).holds);
}

TEST_CASE("repeated: a file is opened again, and its format takes the time") {
  Run run;
  Findings& f = run.findings;
  f.fetch_cpu = f.fetch_cpu_wall = 1e9;
  f.facts.reopened = {{"/data/all.json", 100, 1e9, 2, "a JSON file", 0.9}};
  f.facts.read_in_fetches = 1.1e9;
  CHECK(judged(judge_repeated, run).holds);
  CHECK(judged(judge_repeated, run).words.starts_with("/data/all.json was opened 100 times in 2 processes"));
  f.facts.read_in_fetches = 10e9;  // of other files
  CHECK_FALSE(judged(judge_repeated, run).holds);
  f.facts.read_in_fetches = 1.1e9;
  f.facts.reopened.front().cpu_share = 0.1;
  CHECK_FALSE(judged(judge_repeated, run).holds);
  f.facts.reopened.front().cpu_share = std::nullopt;
  CHECK_FALSE(judged(judge_repeated, run).holds);
  f.facts.reopened.front() = {"/data/all.json", 8, 1e9, 2, "a JSON file", 0.9};  // in each of four epochs
  CHECK_FALSE(judged(judge_repeated, run).holds);
}

TEST_CASE("formats of files, and what opens and parses them") {
  const auto name_of_path = [](std::string_view path) {
    const auto format = format_of(path);
    return format ? std::string(name_of_format(*format)) : std::string();
  };
  CHECK(name_of_path("/data/instances_train2017.JSON") == "a JSON file");
  CHECK(name_of_path("shard-0001.tar.gz") == "an archive");
  CHECK(name_of_path("/data.json/0001.jpeg").empty());
  const auto read_by = [](std::string name, std::string file, Part part) {
    return format_read_by({std::move(name), base_name(file), file, 1, part});
  };
  CHECK(read_by("loads", "/usr/lib/python3.11/json/__init__.py", Part::python) == format_of("x.json"));
  CHECK(read_by("ZipFile.__init__", "/usr/lib/python3.11/zipfile.py", Part::python) == format_of("x.zip"));
  CHECK(!read_by("ZipFile.read", "/usr/lib/python3.11/zipfile.py", Part::python));
  CHECK(!read_by("loads", "/home/me/train.py", Part::python));
  CHECK(read_by("dumps", "orjson.cpython-311-x86_64-linux-gnu.so", Part::native) == format_of("x.json"));
}

TEST_CASE("oversubscribed, or crowded by others") {
  Run run;
  Findings& f = run.findings;
  run.set_workers(24);
  f.cores = 2;
  f.fetch_time = 20 * f.loop;  // twenty fetches at once
  f.fetch_cpu_wall = f.core_wait.wall = f.fetch_time;
  f.fetch_cpu = 0.1 * f.fetch_time;
  f.core_wait.waited = 0.8 * f.fetch_time;
  f.sampled.all = 1.8 * f.duration;
  CHECK(judged(judge_oversubscribed, run).holds);
  CHECK_FALSE(judged(judge_crowded, run).holds);
  run.set_workers(2);
  f.fetch_time = 2 * f.loop;
  f.fetch_cpu_wall = f.core_wait.wall = f.fetch_time;
  f.fetch_cpu = 0.3 * f.fetch_time;
  f.core_wait.waited = 0.6 * f.fetch_time;
  f.sampled.all = 0.6 * f.duration;
  CHECK_FALSE(judged(judge_oversubscribed, run).holds);
  CHECK(judged(judge_crowded, run).holds);
  f.sampled.all = 2 * f.duration;
  CHECK_FALSE(judged(judge_crowded, run).holds);
}

TEST_CASE("threads: those that help take much of the workers' time, for too few cores") {
  Run run;
  Findings& f = run.findings;
  run.set_workers(4);
  f.cores = 2;
  f.core_wait = {0.4 * f.fetch_time, f.fetch_time};
  f.sampled = {10e9, 8e9, 6e9, 15, {}};
  CHECK(judged(judge_threads, run).holds);
  f.cores = 64;
  CHECK_FALSE(judged(judge_threads, run).holds);
  f.cores = 2;
  f.sampled = {10e9, 8e9, 0.1e9, 15, {}};
  CHECK_FALSE(judged(judge_threads, run).holds);
}

TEST_CASE("suspended: all stand still at once, in the middle of their work") {
  Process training;
  Process worker;
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto standstills = [&](bool worker_too) {
    Activity activity;
    for (std::int64_t i = 0; i < 100; ++i) {  // 10 s, of which nothing happens from 4 s to 7 s
      const std::int64_t at = i * kSecond / 10;
      if (at <= 4 * kSecond || at >= 7 * kSecond) activity.note(at);
    }
    for (std::int64_t i = 0; i < 20; ++i) {
      activity.note_work(training, true, 0, i * kSecond / 50, (i + 1) * kSecond / 50);
      activity.note_work(worker, false, 0, i * kSecond / 50, (i + 1) * kSecond / 50);
    }
    activity.note_work(training, true, 0, 4 * kSecond - 1, 7 * kSecond + 1);
    if (worker_too) activity.note_work(worker, false, 0, 4 * kSecond - 1, 7 * kSecond + 1);
    return activity.standstills();
  };
  REQUIRE(standstills(true).size() == 1);
  CHECK(standstills(true).front().ns == doctest::Approx(2.9e9));
  CHECK(standstills(false).empty());  // a step that slept, while the queue was full
}
