// Batches are joined from the records of the worker and of the training process.
#include <doctest/doctest.h>

#include "made_trace.hpp"
#include "reading/model/batches.hpp"
#include "reading/model/numbering.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

void fetch(ThreadWriter& worker, double from, double to, std::uint64_t reset, std::uint64_t batch) {
  span<Kind::fetch>(worker, from, to, 0, reset, batch);
  span<Kind::put>(worker, to, to + 0.1, batch);
}

// Records next { wait { get… consume } }; `gets` records the gets.
template <class Gets>
void next(ThreadWriter& main, double from, double consume, double to, std::uint64_t iterator,
          std::uint64_t reset, std::uint64_t batch, Gets gets) {
  main.record<Kind::next>(at(from), iterator, reset);
  main.record<Kind::wait>(at(from), iterator, reset);
  gets();
  span<Kind::consume>(main, consume, to, iterator, reset, batch);
  main.record<Kind::leave>(at(to));
  main.record<Kind::leave>(at(to));
}

}  // namespace

TEST_CASE("wait, out of order, cache hit, delay") {
  MadeTrace made;
  made.loader(1, 2);
  made.iterator(1, 1);
  const std::uint32_t first = made.worker(1, 0);
  const std::uint32_t second = made.worker(1, 1);
  ThreadWriter w0(made, first, 1);
  ThreadWriter w1(made, second, 1);
  ThreadWriter main(made, 1, 1);
  fetch(w0, 10, 110, 0, 0);
  fetch(w1, 10, 60, 0, 1);
  main.record<Kind::queued>(at(1), 1, 0, 0, 1);
  main.record<Kind::queued>(at(2), 1, 0, 1, 2);
  next(main, 5, 117, 118, 1, 0, 0, [&] {
    get(main, 6, 66, 1, 0, 1, 0);
    get(main, 67, 116, 1, 0, 0, 0);
  });
  next(main, 700, 701, 702, 1, 0, 1, [] {});
  w0.flush();
  w1.flush();
  main.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.batches.size() == 2);
  const Batch& waited = *seen.batch(1, 0, 0);
  const Batch& early = *seen.batch(1, 0, 1);
  CHECK_FALSE(waited.out_of_order);
  CHECK(instant(waited.wait.start) == doctest::Approx(5));
  CHECK(length(waited.wait) == doctest::Approx(111));
  CHECK(instant(waited.consumed) == doctest::Approx(118));
  CHECK(waited.worker->pid == 101);
  CHECK(early.out_of_order);
  CHECK(instant(early.wait.start) == doctest::Approx(66));
  CHECK(instant(early.consumed) == doctest::Approx(702));
  CHECK(early.worker->pid == 102);
  CHECK(instant(early.queued) == doctest::Approx(2));
  CHECK(length(early.put) == doctest::Approx(0.1));
  const Findings findings = findings_of(trace);
  CHECK(findings.wait.count() == 2);
  CHECK(findings.wait.min() == 1000);  // the literal
  CHECK(findings.delay.max() == doctest::Approx(642e6));
}

TEST_CASE("the chunks of training and worker may come in any order") {
  for (const bool worker_first : {false, true}) {
    MadeTrace made;
    const std::uint32_t number = made.worker(1, 0);
    ThreadWriter worker(made, number, 1);
    ThreadWriter main(made, 1, 1);
    fetch(worker, 10, 20, 0, 0);
    next(main, 5, 22, 23, 1, 0, 0, [&] { get(main, 6, 21, 1, 0, 0, 0); });
    (worker_first ? worker : main).flush();
    (worker_first ? main : worker).flush();
    made.close();
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    Seen seen;
    show(trace, seen);
    REQUIRE(seen.batches.size() == 1);
    CHECK(length(seen.batches[0].fetch) == doctest::Approx(10));
    CHECK(length(seen.batches[0].wait) == doctest::Approx(16));
  }
}

TEST_CASE("transfer: feeder thread, bytes, deserialization, pinning") {
  MadeTrace made;
  const std::uint32_t number = made.worker(1, 0);
  ThreadWriter worker(made, number, 1);
  ThreadWriter feeder(made, number, 2);
  ThreadWriter pin(made, 1, 2);
  fetch(worker, 10, 20, 0, 0);
  feeder.record<Kind::serialize>(at(21), 0);
  feeder.record<Kind::bytes>(at(21), 1000);
  feeder.record<Kind::bytes>(at(22), 24);
  feeder.record<Kind::leave>(at(24));
  span<Kind::send>(feeder, 24, 25, 0);
  pin.record<Kind::receive>(at(20), 1);
  span<Kind::deserialize>(pin, 25, 27, 1);
  pin.record<Kind::leave>(at(27));
  span<Kind::pin>(pin, 28, 33, 1, 0, 0);
  pin.record<Kind::pin_queued>(at(34), 1, 0, 0);
  worker.flush();
  feeder.flush();
  pin.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.batches.size() == 1);
  const Batch& batch = seen.batches[0];
  CHECK(length(batch.serialize) == doctest::Approx(3));
  CHECK(batch.bytes == 1024);
  CHECK(length(batch.send) == doctest::Approx(1));
  CHECK(length(batch.deserialize) == doctest::Approx(2));
  CHECK(length(batch.pin) == doctest::Approx(5));
  CHECK(instant(batch.pin_queued) == doctest::Approx(34));
}

TEST_CASE("num_workers=0: the wait is the whole of it") {
  MadeTrace made;
  made.loader(1, 0);
  made.iterator(1, 1);
  ThreadWriter main(made, 1, 1);
  main.record<Kind::next>(at(5), 1, 0);
  main.record<Kind::wait>(at(6), 1, 0);
  span<Kind::fetch>(main, 7, 17, 1, 0, 0);
  main.record<Kind::leave>(at(19));
  main.record<Kind::leave>(at(20));
  main.record<Kind::next>(at(30), 1, 0);
  main.record<Kind::wait>(at(31), 1, 0);
  main.record<Kind::leave_empty>(at(32));
  main.record<Kind::leave_empty>(at(33));
  main.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.batches.size() == 1);
  CHECK(seen.batches[0].inline_fetch);
  CHECK(length(seen.batches[0].wait) == doctest::Approx(13));
  CHECK(instant(seen.batches[0].consumed) == doctest::Approx(19));
  const Findings findings = findings_of(trace);
  CHECK(findings.workers.empty());
  CHECK(findings.train_step.sum() == 10e6);
  CHECK(findings.delay.sum() == 2e6);
}

TEST_CASE("the end of an iterable dataset is no batch") {
  MadeTrace made;
  const std::uint32_t number = made.worker(1, 0);
  ThreadWriter worker(made, number, 1);
  ThreadWriter main(made, 1, 1);
  fetch(worker, 10, 20, 0, 0);
  worker.record<Kind::fetch>(at(21), 0, 0, 1);
  worker.record<Kind::sample>(at(21), -1);
  worker.record<Kind::leave_empty>(at(22));
  worker.record<Kind::leave_error>(at(23));
  next(main, 5, 22, 23, 1, 0, 0, [&] { get(main, 6, 21, 1, 0, 0, 0); });
  main.record<Kind::next>(at(24), 1, 0);
  main.record<Kind::wait>(at(24), 1, 0);
  get(main, 24, 25, 1, 0, 1, 1);  // the marker of the dataset's end
  main.record<Kind::leave_empty>(at(26));
  main.record<Kind::leave_empty>(at(26));
  worker.flush();
  main.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  CHECK(seen.batches.size() == 1);
  const Findings findings = findings_of(trace);
  CHECK(findings.fetch.count() == 1);
  CHECK(findings.wait.count() == 1);
  CHECK(findings.out_of_order == 0);
  CHECK(findings.failed_batches == 0);
  CHECK(findings.train_step.count() == 1);  // the last __next__ gave no batch to train on
}

TEST_CASE("a batch whose making raised is counted, not measured") {
  MadeTrace made;
  const std::uint32_t number = made.worker(1, 0);
  ThreadWriter worker(made, number, 1);
  ThreadWriter main(made, 1, 1);
  worker.record<Kind::fetch>(at(10), 0, 0, 0);
  worker.record<Kind::leave_error>(at(12));
  main.record<Kind::next>(at(5), 1, 0);
  main.record<Kind::wait>(at(5), 1, 0);
  get(main, 6, 14, 1, 0, 0, 0);
  main.record<Kind::consume>(at(14), 1, 0, 0);
  for (int i = 0; i < 3; ++i) main.record<Kind::leave_error>(at(15));
  worker.flush();
  main.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.batches.size() == 1);
  CHECK(seen.batches[0].failed);
  CHECK(seen.batches[0].consumed == kUnknown);
  CHECK(length(seen.batches[0].wait) == doctest::Approx(9));
  const Findings findings = findings_of(trace);
  CHECK(findings.failed_batches == 1);
  CHECK(findings.fetch.empty());
  CHECK(findings.delay.empty());
  CHECK(findings.train_step.empty());
}

TEST_CASE("batches that training never took have no wait") {
  MadeTrace made;
  const std::uint32_t number = made.worker(1, 0);
  ThreadWriter worker(made, number, 1);
  ThreadWriter main(made, 1, 1);
  fetch(worker, 10, 20, 0, 0);
  fetch(worker, 20, 30, 0, 1);
  main.record<Kind::queued>(at(1), 1, 0, 2, 1);  // never fetched
  get(main, 31, 32, 1, 0, 1, 0);                 // a leftover that a new epoch throws away
  main.flush();
  worker.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  CHECK(seen.batches.size() == 2);
  CHECK_FALSE(seen.batch(1, 0, 0)->waited());
  CHECK_FALSE(seen.batch(1, 0, 1)->waited());
}

TEST_CASE("persistent workers: epochs tell batches of the same index apart") {
  MadeTrace made;
  made.loader(1, 1, true);
  made.iterator(1, 1);
  const std::uint32_t number = made.worker(1, 0);
  ThreadWriter worker(made, number, 1);
  ThreadWriter feeder(made, number, 2);
  ThreadWriter main(made, 1, 1);
  for (std::uint64_t reset = 0; reset < 3; ++reset) {
    const double t = 100.0 * static_cast<double>(reset);
    made.define<Kind::epoch>(1, at(t), 1, reset, reset);
    fetch(worker, t + 10, t + 20 + static_cast<double>(reset), reset, 0);
    span<Kind::serialize>(feeder, t + 24, t + 25 + static_cast<double>(reset), 0);
    next(main, t + 5, t + 40, t + 41, 1, reset, 0, [&] { get(main, t + 5, t + 30, 1, reset, 0, 0); });
  }
  for (ThreadWriter* thread : {&feeder, &main, &worker}) thread->flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.batches.size() == 3);
  Numbering numbering;
  for (const auto& batch : seen.batches) numbering.on_batch(batch);
  numbering.settle();
  for (std::uint64_t reset = 0; reset < 3; ++reset) {
    const Batch* batch = seen.batch(1, reset, 0);
    REQUIRE(batch != nullptr);
    CHECK(length(batch->fetch) == doctest::Approx(10 + static_cast<double>(reset)));
    CHECK(length(batch->serialize) == doctest::Approx(1 + static_cast<double>(reset)));
    CHECK(length(batch->put) == doctest::Approx(0.1));
    CHECK(numbering.of(batch->key) == reset);
  }
  const Findings findings = findings_of(trace);
  CHECK(findings.train_step.empty());  // code that runs between epochs is no training step
  REQUIRE(findings.loaders.size() == 1);
  CHECK(findings.loaders[0].epochs == 3);
}

TEST_CASE("two loaders at once, and a worker's pid that is used again") {
  MadeTrace made;
  made.loader(1, 1);
  made.loader(2, 1);
  made.iterator(1, 1);
  made.iterator(2, 2);
  const std::uint32_t first = made.worker(1, 0, 1);
  const std::uint32_t second = made.worker(2, 0, 1);
  // Much later the first worker's pid comes back as a worker of another iterator.
  made.iterator(3, 2);
  made.process(4, 101, 100, pair_at(5000));
  made.define<Kind::worker_link>(1, at(5001), 3, 0, 101);
  ThreadWriter a(made, first, 1);
  ThreadWriter b(made, second, 1);
  ThreadWriter c(made, 4, 1);
  ThreadWriter main(made, 1, 1);
  fetch(a, 10, 20, 0, 0);
  fetch(b, 10, 30, 0, 0);
  fetch(a, 30, 45, 0, 1);
  fetch(c, 5010, 5050, 0, 0);
  next(main, 5, 22, 23, 1, 0, 0, [&] { get(main, 6, 21, 1, 0, 0, 0); });
  next(main, 24, 32, 33, 2, 0, 0, [&] { get(main, 25, 31, 2, 0, 0, 0); });
  next(main, 40, 47, 48, 1, 0, 1, [&] { get(main, 41, 46, 1, 0, 1, 1); });
  next(main, 5005, 5060, 5061, 3, 0, 0, [&] { get(main, 5005, 5055, 3, 0, 0, 0); });
  for (ThreadWriter* thread : {&c, &b, &a, &main}) thread->flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.batches.size() == 4);
  CHECK(length(seen.batch(1, 0, 0)->fetch) == doctest::Approx(10));
  CHECK(length(seen.batch(2, 0, 0)->fetch) == doctest::Approx(20));
  CHECK(length(seen.batch(3, 0, 0)->fetch) == doctest::Approx(40));
  CHECK(length(seen.batch(1, 0, 1)->wait) == doctest::Approx(6));
  Numbering numbering;
  for (const auto& batch : seen.batches) numbering.on_batch(batch);
  numbering.settle();
  CHECK(numbering.of(seen.batch(1, 0, 0)->key) == 0u);
  CHECK(numbering.of(seen.batch(1, 0, 1)->key) == 1u);
  CHECK(numbering.of(seen.batch(2, 0, 0)->key) == 2u);
  CHECK(numbering.of(seen.batch(3, 0, 0)->key) == 3u);
  const Findings findings = findings_of(trace);
  REQUIRE(findings.loaders.size() == 2);
  CHECK(findings.loaders[0].fetch.count() == 2);
  CHECK(findings.loaders[1].fetch.count() == 2);
  CHECK(findings.loaders[0].train_step.sum() == 8e6);  // from 23 to 40, without the call of the other loader
}

TEST_CASE("a worker whose link is lost keeps its batches") {
  MadeTrace made;
  made.process(2, 555, 100, pair_at(1));
  ThreadWriter worker(made, 2, 1);
  fetch(worker, 10, 20, 0, 0);
  worker.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.batches.size() == 1);
  CHECK(length(seen.batches[0].fetch) == doctest::Approx(10));
  CHECK(findings_of(trace).fetch.count() == 1);
}

TEST_CASE("memory is bounded when batches never become complete") {
  MadeTrace made;
  const std::uint32_t number = made.worker(1, 0);
  ThreadWriter worker(made, number, 1);
  const std::uint64_t count = BatchTable::kMostPending + 1000;
  for (std::uint64_t i = 0; i < count; ++i) span<Kind::fetch>(worker, 10, 10, 0, 0, i);
  worker.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  CHECK(seen.batches.size() == count);
}

TEST_CASE("a batch that comes again when the table is full is shown whole") {
  MadeTrace made;
  ThreadWriter main(made, 1, 1, 1 << 20);
  const auto trained_on = [&] {
    span<Kind::fetch>(main, 1, 1, 1, 0, 0);
    span<Kind::consume>(main, 1, 1, 1, 0, 0);
  };
  for (std::uint64_t i = 0; i < BatchTable::kMostPending; ++i) main.record<Kind::queued>(at(1), 1, 0, i, 1);
  trained_on();
  trained_on();
  main.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.batches.size() == 2);
  for (const Batch& batch : seen.batches) CHECK(batch.fetched == Fetched::made);
}
