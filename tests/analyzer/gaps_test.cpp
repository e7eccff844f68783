// Traces with missing records: results from the remaining records are right, and nothing is invented.
#include <doctest/doctest.h>

#include "answers/report/verdict.hpp"
#include "made_trace.hpp"
#include "reading/model/span_builder.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

// Several fetches; the chunk that holds the middle of one of them is missing.
void broken_in_the_middle(MadeTrace& made, std::uint32_t worker) {
  ThreadWriter thread(made, worker, 1);
  thread.record<Kind::worker_loop>(at(0), 0, 1);
  span<Kind::fetch>(thread, 1, 6, 0, 0, 0);
  thread.record<Kind::fetch>(at(7), 0, 0, 1);
  thread.record<Kind::sample>(at(8), -3);
  thread.flush();
  thread.record<Kind::leave>(at(9));
  thread.record<Kind::leave>(at(10));
  span<Kind::fetch>(thread, 11, 12, 0, 0, 2);
  thread.record<Kind::fetch>(at(13), 0, 0, 3);
  thread.record<Kind::sample>(at(14), -5);
  thread.drop();
  thread.record<Kind::leave>(at(16));
  thread.record<Kind::leave>(at(20));
  span<Kind::fetch>(thread, 21, 24, 0, 0, 4);
  thread.record<Kind::leave>(at(25));
  thread.flush();
}

}  // namespace

TEST_CASE("after a gap the stack is rebuilt from the open records") {
  MadeTrace made;
  broken_in_the_middle(made, made.worker(1, 0));
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  const Reading reading = show(trace, seen);
  CHECK(seen.gaps == 1);
  CHECK(seen.lost == 6);
  CHECK(reading.lost_records == 6);
  CHECK(reading.dropped_spans == 2);  // fetch 1 and its sample
  CHECK(reading.unmatched_leaves == 0);
  REQUIRE(seen.spans.size() == 5);
  CHECK(seen.spans[0].ms == doctest::Approx(5));
  CHECK(seen.spans[1].kind == Kind::sample);  // of fetch 3: it began inside the gap
  CHECK(seen.spans[1].ms == doctest::Approx(2));
  CHECK(seen.spans[1].gapped);
  CHECK(seen.spans[2].kind == Kind::fetch);
  CHECK(seen.spans[2].ms == doctest::Approx(7));
  CHECK(seen.spans[3].ms == doctest::Approx(3));
  CHECK_FALSE(seen.spans[3].gapped);
  CHECK(seen.spans[4].kind == Kind::worker_loop);  // open before and after the gap: its length is known
  CHECK(seen.spans[4].ms == doctest::Approx(25));
}

TEST_CASE("a chunk that is not in the file is a gap without a word about its size") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  span<Kind::fetch>(thread, 1, 2, 0, 0, 0);
  thread.flush();
  const std::size_t before = made.bytes.size();
  span<Kind::fetch>(thread, 3, 4, 0, 0, 1);
  thread.flush();
  made.bytes.resize(before);
  span<Kind::fetch>(thread, 5, 6, 0, 0, 2);
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  const Reading reading = show(trace, seen);
  CHECK(reading.gaps == 1);
  CHECK(reading.lost_records == 0);
  CHECK(seen.spans.size() == 2);
}

TEST_CASE("without open records, ends without a start are ignored") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  thread.record<Kind::leave>(at(1));
  thread.record<Kind::leave_error>(at(2));
  span<Kind::fetch>(thread, 3, 4, 0, 0, 0);
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  CHECK(show(trace, seen).unmatched_leaves == 2);
  REQUIRE(seen.spans.size() == 1);
  CHECK(seen.spans[0].ms == doctest::Approx(1));
}

TEST_CASE("a chunk that is there twice counts once") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  const std::size_t before = made.bytes.size();
  span<Kind::fetch>(thread, 1, 2, 0, 0, 0);
  thread.flush();
  const Bytes twice(made.bytes.begin() + static_cast<std::ptrdiff_t>(before), made.bytes.end());
  made.bytes.insert(made.bytes.end(), twice.begin(), twice.end());
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  const Reading reading = show(trace, seen);
  CHECK(seen.spans.size() == 1);
  CHECK(reading.damage.count == 1);
}

TEST_CASE("an age before time began does not make a span of centuries") {
  MadeTrace made;
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1);
  thread.drop();
  thread.record<Kind::open>(at(1), static_cast<std::uint64_t>(Kind::fetch), 0, 0, 0, UINT64_MAX / 2);
  thread.record<Kind::leave>(at(2));
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  show(trace, seen);
  REQUIRE(seen.spans.size() == 1);
  CHECK(seen.spans[0].ms == doctest::Approx(1));
}

TEST_CASE("absurdly deep nesting is damage, not memory") {
  MadeTrace made;
  made.codec = Codec::raw;  // compressed, it would be refused for its extreme ratio
  const std::uint32_t worker = made.worker(1, 0);
  ThreadWriter thread(made, worker, 1, 1 << 25);
  for (int i = 0; i < 100'000; ++i) thread.record<Kind::samples>(at(1), 1);
  thread.flush();
  made.close();
  const TemporaryFile file(made.bytes);
  Trace trace(file.path());
  Seen seen;
  const Reading reading = show(trace, seen);
  CHECK(reading.damage.count == 1);
  CHECK(reading.open_spans == SpanBuilder::kMaxDepth);
}

TEST_CASE("a gap of the training loop is neither a step nor time that it did not wait") {
  // Ten batches per chunk, 10 ms each: 5 ms of waiting and 5 ms of training.
  const auto findings = [](bool lossy, auto check) {
    MadeTrace made;
    made.loader(1, 0);
    made.iterator(1, 1);
    ThreadWriter main(made, 1, 1);
    for (int chunk = 0; chunk < 3; ++chunk) {
      for (int i = 0; i < 10; ++i) {
        const double from = 100.0 * chunk + 10.0 * i;
        main.record<Kind::next>(at(from), 1, 0);
        span<Kind::fetch>(main, from, from + 5, 1, 0, 10 * chunk + i);
        main.record<Kind::leave>(at(from + 5));
      }
      if (lossy && chunk == 1)
        main.drop();
      else
        main.flush();
    }
    made.close(300);
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    check(findings_of(trace));
  };
  findings(false, [](const Findings& whole) {
    CHECK(whole.next == doctest::Approx(150e6));
    CHECK(whole.loop == doctest::Approx(295e6));
    CHECK(whole.quality.missing_loop == 0);
  });
  findings(true, [](const Findings& lossy) {
    CHECK(lossy.next == doctest::Approx(100e6));
    CHECK(lossy.loop == doctest::Approx(190e6));
    CHECK(lossy.quality.missing_loop == doctest::Approx(105e6));
    CHECK(lossy.train_step.count() == 18);
    CHECK(lossy.train_step.max() == doctest::Approx(5e6));
    REQUIRE(lossy.recordings.size() == 1);
    CHECK(lossy.recordings.front().achieved.loop == doctest::Approx(190e6));
    CHECK(verdict_of(lossy).message.find("another 105 ms of the loop is missing") != std::string::npos);
  });
}
