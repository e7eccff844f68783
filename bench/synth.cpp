// lotus-synth: writes a synthetic trace of an ImageNet-like training, of any length. Durations are those that
// the research system published for image classification, with random variation.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <random>

#include "reading/writer/thread_writer.hpp"

namespace {

using namespace lotus;
using namespace lotus::analyzer;

constexpr std::uint64_t kStart = 1'000'000'000;                 // ns, of the monotonic clock
constexpr std::uint64_t kRealtime = 1'700'000'000'000'000'000;  // at kStart
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint32_t kTraining = 1;         // process number; workers follow
constexpr std::uint64_t kEventsPerImage = 14;  // sample, path, loader, runner, 4 transforms

struct Options {
  std::string output;
  std::uint64_t events = 1'000'000;
  std::uint32_t workers = 2;
  std::uint64_t batch_size = 128;
  std::uint64_t images = 50'000;  // in the dataset
  double step_ms = 250;
  std::uint64_t seed = 1;
};

struct OpModel {
  const char* name;
  OpRole role;
  double mean_ms;
};
constexpr OpModel kOps[] = {{"Loader", OpRole::loader, 4.76},
                            {"RandomResizedCrop", OpRole::transform, 1.11},
                            {"RandomHorizontalFlip", OpRole::transform, 0.06},
                            {"ToTensor", OpRole::transform, 0.34},
                            {"Normalize", OpRole::transform, 0.21},
                            {"Collation", OpRole::collate, 49.8}};
constexpr std::uint64_t kCollation = 6;

// The ticks of a TSC with 2.5 GHz.
constexpr std::uint64_t ticks(std::uint64_t ns) { return ns * 5 / (2u << kTickShift); }

ClockPair pair_at(std::uint64_t ns) { return {ticks(ns), kRealtime + (ns - kStart)}; }

// A thread whose times are given in ns.
struct Thread {
  ThreadWriter writer;

  template <Kind K, class... Values>
  void record(std::uint64_t ns, const Values&... values) {
    writer.record<K>(ticks(ns), values...);
  }
};

struct Worker {
  std::uint32_t process;
  Thread main, feeder;
  std::uint64_t now;
};

class Synth {
 public:
  Synth(const Options& options, std::FILE* out)
      : options_(options),
        out_(out),
        file_(pair_at(kStart), ClockSource::tsc, kTickShift),
        training_{{file_, kTraining, 1}},
        random_(options.seed) {}

  void run() {
    define();
    const std::uint64_t per_batch = options_.batch_size * kEventsPerImage + 30;
    const std::uint64_t per_epoch = std::max<std::uint64_t>(1, options_.images / options_.batch_size);
    const std::uint64_t batches = std::max<std::uint64_t>(1, options_.events / per_batch);
    for (std::uint64_t done = 0; done < batches; done += per_epoch)
      epoch(done / per_epoch, std::min(per_epoch, batches - done));
    finish();
  }

 private:
  double spread() { return std::exp(noise_(random_) - 0.02); }  // log-normal, mean 1
  std::uint64_t lasting(double mean_ms) { return static_cast<std::uint64_t>(mean_ms * kMs * spread()); }

  std::uint64_t gap(std::uint64_t ns) { return ns + random_() % (ns / 2); }

  void define() {
    file_.process(kTraining, 1000, 1, pair_at(kStart));
    file_.define<Kind::process>(kTraining, ticks(kStart), 1000, 1, "3.11.2", "train.py", "python3 train.py",
                                "/home/user", "machine", 8, 40'000, "2.6.0");
    file_.define<Kind::thread>(kTraining, ticks(kStart), 1, 1000, "python3");
    file_.define<Kind::loader>(kTraining, ticks(kStart), 1, options_.workers, 2, options_.batch_size, 0, 1, 1,
                               "ImageFolder", static_cast<std::int64_t>(options_.images), "RandomSampler");
    file_.define<Kind::iterator>(kTraining, ticks(kStart), 1, 1);
    for (std::uint32_t i = 0; i < options_.workers; ++i) define_worker(i);
  }

  void define_worker(std::uint32_t i) {
    const std::uint32_t process = kTraining + 1 + i;
    const std::uint32_t pid = 1001 + i;
    file_.process(process, pid, 1000, pair_at(kStart + kMs));
    file_.define<Kind::worker_link>(kTraining, ticks(kStart + kMs), 1, i, pid);
    file_.define<Kind::process>(process, ticks(kStart + kMs), pid, 1000, "3.11.2", "train.py",
                                "python3 train.py", "/home/user", "machine", 8, 40'000, "2.6.0");
    file_.define<Kind::thread>(process, ticks(kStart + kMs), 1, pid, "python3");
    file_.define<Kind::thread>(process, ticks(kStart + kMs), 2, pid + 10'000, "feeder");
    std::uint64_t id = 0;
    for (const auto& op : kOps)
      file_.define<Kind::op_def>(process, ticks(kStart + kMs), ++id, static_cast<std::uint64_t>(op.role),
                                 op.name, op.name, "transforms.py", 1);
    file_.define<Kind::op_def>(process, ticks(kStart + kMs), ++id, static_cast<std::uint64_t>(OpRole::runner),
                               "Compose", "Compose", "transforms.py", 1);
    workers_.push_back({process, {{file_, process, 1}}, {{file_, process, 2}}, kStart + 2 * kMs});
    workers_.back().main.record<Kind::worker_loop>(kStart + 2 * kMs, i, options_.workers);
  }

  template <class Body>
  void op(Worker& worker, std::uint64_t id, Body body) {
    worker.main.record<Kind::op>(worker.now, id);
    body();
    worker.main.record<Kind::leave>(worker.now);
    worker.now += gap(2'000);
  }

  void timed_op(Worker& worker, std::uint64_t id) {
    op(worker, id, [&] {
      const std::uint64_t ns = lasting(kOps[id - 1].mean_ms);
      worker.now += ns;
      if (random_() % 16 == 0) worker.main.record<Kind::cpu>(worker.now, ns - ns / 20);
    });
  }

  void sample(Worker& worker) {
    const std::uint64_t index = random_() % options_.images;
    worker.main.record<Kind::sample>(worker.now, static_cast<std::int64_t>(index));
    worker.main.writer.path(ticks(worker.now += gap(1'000)),
                            fmt::format("/data/imagenet/train/n{:08}/n{:08}_{}.JPEG", index / 1300 * 37,
                                        index / 1300 * 37, index));
    timed_op(worker, 1);
    op(worker, kCollation + 1, [&] {
      for (std::uint64_t id = 2; id < kCollation; ++id) timed_op(worker, id);
    });
    worker.main.record<Kind::leave>(worker.now += gap(1'000));
  }

  // Records a batch; returns the time at which it is in the pipe.
  std::uint64_t make(Worker& worker, std::uint64_t reset, std::uint64_t batch) {
    const std::uint64_t start = worker.now;
    worker.main.record<Kind::fetch>(start, 0, reset, batch);
    for (std::uint64_t i = 0; i < options_.batch_size; ++i) sample(worker);
    timed_op(worker, kCollation);
    worker.main.record<Kind::cpu>(worker.now, (worker.now - start) / 20 * 19);
    worker.main.record<Kind::leave>(worker.now);
    worker.main.record<Kind::put>(worker.now + 3'000, batch);
    worker.main.record<Kind::leave>(worker.now += 40'000);
    std::uint64_t now = worker.now + 20'000;
    worker.feeder.record<Kind::serialize>(now, batch);
    worker.feeder.record<Kind::bytes>(now += 300'000, options_.batch_size * 602'112);
    worker.feeder.record<Kind::leave>(now);
    worker.feeder.record<Kind::send>(now += 1'000, batch);
    worker.feeder.record<Kind::leave>(now += 30'000);
    return now;
  }

  void epoch(std::uint64_t reset, std::uint64_t batches) {
    file_.define<Kind::epoch>(kTraining, ticks(now_), 1, reset, reset);
    for (auto& worker : workers_) worker.now = std::max(worker.now, now_ + kMs);
    std::vector<std::uint64_t> ready(workers_.size());
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
      Worker& worker = workers_[batch % workers_.size()];
      const std::uint64_t arrives = make(worker, reset, batch);
      next(reset, batch, arrives);
      worker.now = std::max(worker.now, now_ > 800 * kMs ? now_ - 800 * kMs : 0);  // prefetching is bounded
      write_out();
    }
    training_.record<Kind::next>(now_, 1, reset);
    training_.record<Kind::wait>(now_ + 1'000, 1, reset);
    training_.record<Kind::leave_empty>(now_ += 5'000);
    training_.record<Kind::leave_empty>(now_ += 1'000);
    now_ += 10 * kMs;
  }

  void next(std::uint64_t reset, std::uint64_t batch, std::uint64_t arrives) {
    training_.record<Kind::queued>(now_, 1, reset, batch, 2 * workers_.size());
    training_.record<Kind::next>(now_ += 1'000, 1, reset);
    training_.record<Kind::wait>(now_ += 1'000, 1, reset);
    training_.record<Kind::get>(now_ += 1'000, 1, reset);
    training_.record<Kind::receive>(now_ += 1'000, 1);
    now_ = std::max(now_, arrives) + 5'000;
    training_.record<Kind::deserialize>(now_, 1);
    training_.record<Kind::leave>(now_ += 200'000);
    training_.record<Kind::leave>(now_ += 1'000);
    training_.record<Kind::received>(now_, 1, reset, batch, batch, 2 * workers_.size());
    training_.record<Kind::leave>(now_ += 1'000);
    training_.record<Kind::consume>(now_ += 1'000, 1, reset, batch);
    for (int i = 0; i < 3; ++i) training_.record<Kind::leave>(now_ += 3'000);
    now_ += lasting(options_.step_ms);
  }

  void write_out() {
    if (file_.bytes.size() < (1u << 20)) return;
    write_all();
  }
  void write_all() {
    if (std::fwrite(file_.bytes.data(), 1, file_.bytes.size(), out_) < file_.bytes.size())
      throw std::runtime_error("the trace cannot be written: is the disk full?");
    file_.bytes.clear();
  }

  void finish() {
    training_.writer.flush();
    for (auto& worker : workers_) {
      now_ = std::max(now_, worker.now);
      worker.main.record<Kind::leave>(now_);
      worker.main.writer.flush();
      worker.feeder.writer.flush();
    }
    for (std::uint32_t process = kTraining; process <= kTraining + options_.workers; ++process)
      file_.process_end(process, {pair_at(now_ + kMs), 0, 0, 0, 0, 1'000'000, 0, 0, 0});
    file_.trailer(pair_at(now_ + 2 * kMs));
    write_all();
  }

  const Options& options_;
  std::FILE* out_;
  TraceWriter file_;
  Thread training_;
  std::vector<Worker> workers_;
  std::uint64_t now_ = kStart + 3 * kMs;
  std::mt19937_64 random_;
  std::normal_distribution<double> noise_{0, 0.2};
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Writes the trace of an ImageNet-like training that never ran.", "lotus-synth");
  app.add_option("-o,--output", options.output, "the trace to write")->required();
  app.add_option("--events", options.events, "records, about")->capture_default_str();
  app.add_option("--workers", options.workers, "worker processes")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "images")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--images", options.images, "of the dataset")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  app.add_option("--step-ms", options.step_ms, "mean training step")->capture_default_str();
  app.add_option("--seed", options.seed, "of the random numbers")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::FILE* out = std::fopen(options.output.c_str(), "wb");
  if (out == nullptr) return fmt::print(stderr, "lotus-synth: {}: cannot be made\n", options.output), 1;
  try {
    Synth(options, out).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "lotus-synth: {}: {}\n", options.output, error.what());
    return 1;
  }
  return std::fclose(out) == 0 ? 0 : 1;
}
