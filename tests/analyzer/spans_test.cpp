// Records of one thread become spans.
#include <doctest/doctest.h>

#include <optional>

#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

// fetch { sample { Loader, Compose { Crop { Inner } } } Collation }
void one_batch(MadeTrace& trace, std::uint32_t process) {
  trace.op(process, 1, OpRole::loader, "Loader");
  trace.op(process, 2, OpRole::runner, "Compose");
  trace.op(process, 3, OpRole::transform, "Crop");
  trace.op(process, 4, OpRole::transform, "Inner");
  trace.op(process, 5, OpRole::collate, "Collation");
  ThreadWriter thread(trace, process, 1);
  thread.record<Kind::fetch>(at(10), 0, 0, 0);
  thread.record<Kind::sample>(at(11), -1);
  thread.path(at(11), "/data/a.jpg");
  span<Kind::op>(thread, 12, 15, 1);
  thread.record<Kind::op>(at(16), 2);
  thread.record<Kind::op>(at(17), 3);
  span<Kind::op>(thread, 18, 22, 4);
  thread.record<Kind::cpu>(at(27), 5'000'000);
  thread.record<Kind::leave>(at(27));
  thread.record<Kind::leave>(at(28));
  thread.record<Kind::leave>(at(30));
  span<Kind::op>(thread, 31, 33, 5);
  thread.record<Kind::leave>(at(34));
  thread.flush();
}

}  // namespace

TEST_CASE("spans nest, and carry op, path, depth and samples") {
  MadeTrace made;
  one_batch(made, made.worker(1, 0));
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  const Reading reading = show(trace, seen);
  CHECK(reading.whole.records == 16);
  CHECK(reading.damage.count == 0);
  REQUIRE(seen.spans.size() == 7);
  CHECK(seen.spans[1].op == "Inner");
  CHECK(seen.spans[1].depth == 4);
  CHECK(seen.spans[2].op == "Crop");
  CHECK(seen.spans[2].ms == doctest::Approx(10));
  CHECK(seen.spans[4].kind == Kind::sample);
  CHECK(seen.spans[4].path == "/data/a.jpg");
  CHECK(seen.spans[6].kind == Kind::fetch);
  CHECK(seen.spans[6].samples == 1);
}

TEST_CASE("shares: nested ops count once, runners are looked through") {
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  one_batch(made, made.worker(1, 0));
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  REQUIRE(findings.ops.size() == 4);  // Compose, a runner, is not an op
  double sum = findings.outside_ops;
  for (const auto& op : findings.ops) {
    sum += op.fetch_self;
    if (op.op.name == "Crop") {
      CHECK(op.wall.sum() == 10e6);
      CHECK(op.self == 6e6);
      CHECK(share_percent(op, findings) == doctest::Approx(25));
      CHECK(*cpu_of(op, findings) == doctest::Approx(5e-3));
    }
    if (op.op.name == "Inner") CHECK(op.self == 4e6);
  }
  CHECK(sum == doctest::Approx(24e6));  // T1
  REQUIRE(findings.slow.size() == 1);
  CHECK(findings.slow[0].op == "Crop");
  CHECK(findings.slow[0].path == "/data/a.jpg");
  CHECK(findings.slow[0].index == -1);
}

// A batch that starts at 0 and consists of calls of one operation.
struct BatchOfOneOp {
  MadeTrace made;
  std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread{made, worker, 1};
  std::optional<TemporaryFile> file;
  std::optional<Trace> trace;

  BatchOfOneOp() {
    made.op(worker, 1, OpRole::transform, "Flip");
    thread.record<Kind::fetch>(at(0), 0, 0, 0);
  }
  Findings end(double ms, std::uint64_t cpu_ns) {
    thread.record<Kind::cpu>(at(ms), cpu_ns);
    thread.record<Kind::leave>(at(ms));
    thread.flush();
    made.close();
    file.emplace(made.bytes);
    trace.emplace(file->path());
    return findings_of(*trace);
  }
};

TEST_CASE("an op without a measured call gets the CPU share of the fetches") {
  BatchOfOneOp batch;
  span<Kind::op>(batch.thread, 0, 8, 1);
  const Findings findings = batch.end(10, 4'000'000);
  REQUIRE(findings.ops.size() == 1);
  CHECK(*cpu_of(findings.ops[0], findings) == doctest::Approx(8e-3 * 0.4));
}

// Some calls lost their core and took far longer than the others, and none of them was measured. Their CPU
// time follows from that of the batch.
TEST_CASE("an op's calls that are like no measured one share what measured ones leave of the batch") {
  BatchOfOneOp batch;
  batch.thread.record<Kind::op>(at(0), 1);
  batch.thread.record<Kind::cpu>(at(1), 1'000'000);
  batch.thread.record<Kind::leave>(at(1));
  for (int call = 1; call < 10; ++call) span<Kind::op>(batch.thread, call, call + 1, 1);
  span<Kind::op>(batch.thread, 10, 100, 1);
  const Findings findings = batch.end(100, 11'000'000);
  REQUIRE(findings.ops.size() == 1);
  // The short calls took 10 of the batch's 11 ms: 1 ms is left for the others, plus 5 % for uncertainty.
  CHECK(*findings.unmeasured_share == doctest::Approx((11 - 10 + 0.05 * 11) / (90 + 0.05 * 100)));
  CHECK(*cpu_of(findings.ops[0], findings) == doctest::Approx(10e-3 + 90e-3 * *findings.unmeasured_share));
}

TEST_CASE("exceptions close spans, and are counted") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  made.op(worker, 1, OpRole::transform, "Raises");
  ThreadWriter thread(made, worker, 1);
  thread.record<Kind::fetch>(at(0), 0, 0, 0);
  thread.record<Kind::sample>(at(0), 3);
  thread.record<Kind::op>(at(1), 1);
  thread.record<Kind::leave_error>(at(3));
  thread.record<Kind::op>(at(4), 1);
  thread.record<Kind::leave_lost>(at(9));
  thread.record<Kind::leave>(at(9));
  thread.record<Kind::leave>(at(10));
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  CHECK(seen.spans[0].ended == Ended::error);
  CHECK(seen.spans[1].ended == Ended::lost);
  const Findings findings = findings_of(trace);
  REQUIRE(findings.ops.size() == 1);
  CHECK(findings.ops[0].errors == 2);
  CHECK(findings.ops[0].wall.count() == 1);  // the end of the lost one is unknown
  CHECK(findings.ops[0].wall.sum() == 2e6);
  CHECK(findings.fetch.count() == 1);
}

TEST_CASE("paths build on the chunk's previous one, and survive its end") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  thread.record<Kind::sample>(at(0), 1);
  thread.path(at(0), "/data/first/a.jpg");
  thread.record<Kind::leave>(at(1));
  thread.record<Kind::sample>(at(2), 2);
  thread.path(at(2), "/data/first/b.jpg");
  thread.flush();  // the sample ends in the next chunk
  thread.record<Kind::leave>(at(3));
  thread.record<Kind::sample>(at(4), 3);
  thread.record<Kind::leave>(at(5));
  thread.record<Kind::sample>(at(6), 4);
  thread.record<Kind::path>(at(6), 99, "lost");  // continues a path that is not in the chunk
  thread.record<Kind::leave>(at(7));
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.spans.size() == 4);
  CHECK(seen.spans[0].path == "/data/first/a.jpg");
  CHECK(seen.spans[1].path == "/data/first/b.jpg");
  CHECK(seen.spans[2].path.empty());
  CHECK(seen.spans[3].path.empty());
}

TEST_CASE("spans that never end are reported as open, not measured") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  thread.record<Kind::worker_loop>(at(0), 0, 1);
  span<Kind::fetch>(thread, 1, 6, 0, 0, 0);
  thread.record<Kind::fetch>(at(7), 0, 0, 1);
  thread.record<Kind::sample>(at(11), 5);
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  const Reading reading = show(trace, seen);
  CHECK(reading.open_spans == 3);
  CHECK(seen.open == std::vector<Kind>{Kind::worker_loop, Kind::fetch, Kind::sample});
  const Findings findings = findings_of(trace);
  CHECK(findings.fetch.count() == 1);
  CHECK(findings.sample.count() == 0);
  REQUIRE(findings.workers.size() == 1);
  CHECK(*findings.workers[0].busy_percent() == doctest::Approx(100 * 5.0 / 11));  // until its last record
}

TEST_CASE("shares add up also when a fetch raised and another never ended") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  made.op(worker, 1, OpRole::transform, "Crop");
  ThreadWriter thread(made, worker, 1);
  thread.record<Kind::fetch>(at(0), 0, 0, 0);
  span<Kind::op>(thread, 0, 3, 1);
  thread.record<Kind::leave_error>(at(4));
  thread.record<Kind::fetch>(at(5), 0, 0, 1);
  span<Kind::op>(thread, 5, 6, 1);
  thread.record<Kind::op>(at(8), 1);
  thread.record<Kind::path>(at(9), 0, "last");
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  CHECK(findings.fetch.empty());
  CHECK(findings.fetch_time == 8e6);
  CHECK(findings.outside_ops == 4e6);
  REQUIRE(findings.ops.size() == 1);
  CHECK(share_percent(findings.ops[0], findings) == 50);
}

TEST_CASE("batched samples are counted once") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  thread.record<Kind::fetch>(at(0), 0, 0, 0);
  span<Kind::samples>(thread, 0, 5, 4);  // fetched as a whole
  thread.record<Kind::leave>(at(6));
  thread.record<Kind::fetch>(at(7), 0, 0, 1);
  thread.record<Kind::samples>(at(7), 2);  // fetched one by one
  span<Kind::sample>(thread, 7, 8, 0);
  span<Kind::sample>(thread, 8, 9, 1);
  thread.record<Kind::leave>(at(9));
  thread.record<Kind::leave>(at(10));
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  CHECK(seen.spans[1].samples == 4);
  CHECK(seen.spans.back().samples == 2);
}

TEST_CASE("a sample inside a sample, as of Subset, is part of it") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  thread.record<Kind::fetch>(at(0), 0, 0, 0);
  thread.record<Kind::sample>(at(0), 0);
  thread.record<Kind::sample>(at(1), 17);
  thread.path(at(1), "/x");
  thread.record<Kind::leave>(at(3));
  thread.record<Kind::leave>(at(4));
  thread.record<Kind::leave>(at(5));
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  const Findings findings = findings_of(trace);
  CHECK(findings.sample.count() == 1);
  CHECK(findings.sample.sum() == 4e6);
  REQUIRE(findings.slow.size() == 1);
  CHECK(findings.slow[0].path == "/x");
  CHECK(findings.slow[0].index == 0);
}
