// What workers and training share, as the replay knows it: a lock, the pipe, cores, and the end of an epoch.
#include <doctest/doctest.h>

#include "answers/replay/replay.hpp"

using namespace lotus::analyzer;

namespace {

constexpr double kMs = 1e6;

// One epoch of a loader whose workers make one batch after the other.
struct Made {
  Recording recording;

  explicit Made(std::uint64_t workers, std::uint64_t batches = 80) {
    recording.loader.workers = workers;
    recording.loader.prefetch = 2;
    recording.loader.in_order = true;
    recording.cores = 16;
    RecordedEpoch epoch;
    for (std::uint64_t i = 0; i < batches; ++i) {
      RecordedBatch batch;
      batch.index = i;
      batch.worker = static_cast<std::uint32_t>(i % workers);
      batch.samples = 8;
      batch.core_wait = 0;
      epoch.batches.push_back(batch);
      epoch.steps.push_back({0.1 * kMs, 0});
    }
    epoch.consumed = batches;
    epoch.ready.assign(workers, 0);
    epoch.finished = true;
    recording.epochs = {epoch};
    recording.batches = recording.made = batches;
    recording.all_epochs = 1;
    recording.achieved.images = 8.0 * static_cast<double>(batches);
    recording.slowness.assign(workers, 1);
    recording.core_wait_known = true;
  }

  // The run took so long.
  void lasted(double ns) { recording.achieved.time = recording.achieved.loop = recording.achieved.next = ns; }

  template <class Edit>
  void each_batch(Edit edit) {
    for (auto& epoch : recording.epochs)
      for (auto& batch : epoch.batches) edit(batch);
  }

  double rate(const Question& question) const {
    return Replay(recording).ask(question).achieved.images_per_s();
  }
  double rate_with(std::uint64_t workers) const {
    Question question;
    question.workers = workers;
    return rate(question);
  }
  double recorded() const { return recording.achieved.images_per_s(); }
};

// 4 workers: each fetch has the lock for 10 ms, and waits 30 ms for the others to have had it.
Made locked() {
  Made made(4);
  made.each_batch([](RecordedBatch& batch) {
    batch.fetch = 40 * kMs;
    batch.lock_wait = 30 * kMs;
  });
  made.lasted(80 * 10 * kMs);
  return made;
}

}  // namespace

TEST_CASE("a lock that all workers share: more of them make nothing more, without it they do") {
  const Made made = locked();
  CHECK(made.rate({}) == doctest::Approx(made.recorded()).epsilon(0.06));
  CHECK(made.rate_with(16) == doctest::Approx(made.recorded()).epsilon(0.06));
  Question without;
  without.no_lock = true;
  CHECK(made.rate(without) > 3.5 * made.recorded());
}

TEST_CASE("what is done with the lock in half the time lets twice as many batches be made") {
  Made made = locked();
  RecordedOp read;
  read.name = "Read";
  read.calls = 80;
  read.self = 80 * 40 * kMs;
  made.recording.ops = {read};
  made.each_batch([](RecordedBatch& batch) { batch.ops = {{0, static_cast<float>(batch.fetch)}}; });
  Question question;
  question.ops.push_back({"Read", {.factor = 0.5, .ns = {}}, false});
  CHECK(made.rate(question) == doctest::Approx(2 * made.recorded()).epsilon(0.1));
}

TEST_CASE("workers that take turns are replayed as if they had a lock; with fewer of them it is not known") {
  Made made(4);
  made.each_batch([](RecordedBatch& batch) { batch.fetch = 40 * kMs; });
  made.lasted(80 * 10 * kMs);
  CHECK(made.rate_with(16) > 3 * made.recorded());  // no sign of a lock
  made.recording.turns = {.gaps = 600, .close = 6};
  CHECK(made.rate_with(16) == doctest::Approx(made.recorded()).epsilon(0.06));
  Question fewer;
  fewer.workers = 1;
  const Range range = Replay(made.recording).predict(fewer).images_per_s;
  CHECK(range.low < 0.3 * made.recorded());
  CHECK(range.high > 0.95 * made.recorded());
}

TEST_CASE("what goes through the pipe itself needs training to read it: more workers do not help") {
  Made made(2);
  made.each_batch([](RecordedBatch& batch) {
    batch.fetch = 10 * kMs;
    batch.transfer = batch.pipe = 25 * kMs;  // of it 10 ms wait for training, which computes
    batch.joint = 15 * kMs;
  });
  for (auto& step : made.recording.epochs.front().steps) step.wall = 10 * kMs;
  made.lasted(80 * 25 * kMs);
  CHECK(made.rate({}) == doctest::Approx(made.recorded()).epsilon(0.05));
  CHECK(made.rate_with(8) == doctest::Approx(made.recorded()).epsilon(0.05));
}

TEST_CASE("workers that are kept are not waited for at the end of an epoch") {
  Made made(2);
  made.each_batch([](RecordedBatch& batch) { batch.fetch = 1 * kMs; });
  made.recording.epochs.front().finish = 400 * kMs;
  made.recording.epochs.push_back(made.recording.epochs.front());
  made.recording.all_epochs = 2;
  made.recording.batches *= 2;
  made.recording.achieved.images *= 2;
  made.lasted(2 * 440 * kMs);
  Question kept;
  kept.persistent = true;
  CHECK(made.rate(kept) > 5 * made.recorded());
}

TEST_CASE(
    "where fetches wait for a core, so did the hands that pass batches on: fewer workers lose nothing") {
  Made made(16);
  made.recording.cores = 2;
  made.each_batch([](RecordedBatch& batch) {
    batch.fetch = 80 * kMs;
    batch.fetch_cpu = 10 * kMs;
    batch.core_wait = 70 * kMs;
  });
  made.recording.overheads.between = 20 * kMs;  // nearly all of it waiting for a core
  made.lasted(80 * 10 * kMs / 2);
  Question fewer;
  fewer.workers = 2;
  const Replay replay(made.recording);
  CHECK(std::abs(replay.rate_error_percent()) < 20);
  const Range range = replay.predict(fewer).images_per_s;
  CHECK(range.high > made.recorded());  // they no longer slow each other down
  CHECK(range.low > 0.6 * made.recorded());
}

TEST_CASE("receiving waits for a worker that computes: cheaper fetches make it quicker") {
  Made made(1);
  made.each_batch([](RecordedBatch& batch) {
    batch.fetch = batch.fetch_cpu = 17 * kMs;
    batch.receive = batch.index == 0 ? 0.5 * kMs : 13.5 * kMs;
  });
  for (auto& step : made.recording.epochs.front().steps) step.wall = 4 * kMs;
  made.lasted(80 * 17.5 * kMs);
  Question cheaper;
  cheaper.fetch.factor = 0.1;
  CHECK(made.rate({}) == doctest::Approx(made.recorded()).epsilon(0.05));
  CHECK(made.rate(cheaper) > 2.5 * made.recorded());
}

TEST_CASE("an interval is not narrower than what two runs differ by") {
  Made made(2);
  made.each_batch([](RecordedBatch& batch) { batch.fetch = 20 * kMs; });
  made.lasted(80 * 10 * kMs);
  Question more;
  more.workers = 4;
  const Prediction then = Replay(made.recording).predict(more);
  const double rate = then.achieved.images_per_s();
  CHECK(then.images_per_s.low < 0.96 * rate);
  CHECK(then.images_per_s.high > 1.04 * rate);
}
