// Functions of an operation, with their shares and intervals; expected values are calculated by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <lotus/snapshot.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "answers/stacks/costs.hpp"
#include "answers/stacks/map_views.hpp"
#include "made_stacks.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

namespace {

const std::string kDecode = "decode_mcu|libjpeg.so.62.3.0";
const std::string kIdct = "jpeg_idct_islow|libjpeg.so.62.3.0";
const std::string kMove = "memmove|libc.so.6";
const std::string kEval = "_PyEval_EvalFrameDefault|python3.11";
const std::string kTracer = "evaluate|liblotus.so";
const std::string kLoad = "pil_loader|folder.py";

FunctionMap map_of(const Bytes& bytes, const ProfileFilter& filter = {}, const ListingRule& rule = {}) {
  const TemporaryFile file(bytes);
  Trace trace(file.path());
  Profile profile(trace, filter);
  const Reading reading = show(trace, profile);
  MapBuilder builder;
  builder.add(trace, profile, reading);
  return builder.take(rule);
}

// Processes 2 and 3 are workers 0 and 1. Ops: 1 Loader, 2 Crop (process 3 has these ids swapped), 3 a runner.
struct Run {
  MadeTrace made;
  MadeStacks stacks{made};

  Run() {
    made.loader(1, 2);
    made.iterator(1, 1);
    for (const std::uint64_t worker : {0, 1}) {
      const std::uint32_t number = made.worker(1, worker);
      made.op(number, 1 + worker, OpRole::loader, "Loader");
      made.op(number, 2 - worker, OpRole::transform, "Crop");
      made.op(number, 3, OpRole::runner, "Compose");
      stacks.sampling(number);
    }
  }
  Bytes bytes() {
    made.close();
    return made.bytes;
  }
  void samples(int count, std::uint64_t op, const Frames& frames) {
    for (int i = 0; i < count; ++i) stacks.sample(op, frames);
  }
};

const FunctionShare* function(const OpMap& op, const std::string& name) {
  const auto hit = std::find_if(op.functions.begin(), op.functions.end(),
                                [&](const FunctionShare& f) { return f.frame.name == name; });
  return hit == op.functions.end() ? nullptr : &*hit;
}

Bytes two_workers() {
  Run run;
  run.samples(30, 1, {kEval, kTracer, kEval, kLoad, kDecode, kIdct});
  run.samples(10, 1, {kEval, kLoad, kDecode});
  run.samples(1, 1, {kEval, kLoad, kMove});
  run.samples(5, 1, {kEval, kLoad, kEval});
  run.samples(4, 1, {kEval, kTracer});
  run.samples(2, 1, {kEval, kTracer, "clock_gettime|libc.so.6", "__vdso_clock_gettime|[vdso]"});
  run.stacks.flush(2);
  run.samples(4, 2, {kEval, kLoad, kMove});
  run.samples(6, 1, {"ImagingCrop|_imaging.so", kMove});
  run.samples(7, 3, {kEval});
  run.samples(8, 0, {kEval});
  run.stacks.flush(3);
  return run.bytes();
}

}  // namespace

// Reference values: R's binom.test().
TEST_CASE("the exact interval, and what a number of samples can see") {
  const Bounds tenth = exact_interval(0.1, 100);
  CHECK(tenth.low == Approx(0.0490046).epsilon(1e-4));
  CHECK(tenth.high == Approx(0.1762226).epsilon(1e-4));
  const Bounds none = exact_interval(0, 10);
  CHECK(none.low == 0);
  CHECK(none.high == Approx(1 - std::pow(0.025, 0.1)));
  CHECK(exact_interval(1, 10).high == 1);
  CHECK(exact_interval(1, 10).low == Approx(std::pow(0.025, 0.1)));
  const Bounds half = exact_interval(0.5, 1e6);  // as for the normal distribution
  CHECK(half.low == Approx(0.5 - 0.98e-3).epsilon(1e-5));
  CHECK(half.high == Approx(0.5 + 0.98e-3).epsilon(1e-5));
  CHECK(exact_interval(0.5, 0).low == 0);
  CHECK(exact_interval(0.5, 0).high == 1);
  CHECK(smallest_seen(0) == 1);
  CHECK(smallest_seen(1) == Approx(0.95));
  CHECK(smallest_seen(2) == Approx(1 - std::sqrt(0.05)));
  CHECK(smallest_seen(100) == Approx(0.029513).epsilon(1e-4));
  CHECK(samples_to_see(0.01) == Approx(298.07).epsilon(1e-4));
  CHECK(smallest_seen(samples_to_see(0.01)) == Approx(0.01));
}

TEST_CASE("functions of an operation over all processes: shares, self and total") {
  const FunctionMap map = map_of(two_workers());
  REQUIRE(map.ops.size() == 3);
  const OpMap& loader = map.ops[0];
  CHECK(loader.op.name == "Loader");
  CHECK(loader.all.samples == 50);  // 30 + 10 + 1 + 5 in process 2, 4 in process 3; not the tracer's 6
  CHECK(loader.all.cpu_ns == 50 * kPeriod);
  CHECK(loader.tracer.samples == 6);
  CHECK(loader.interpreter.samples == 5);
  const FunctionShare* idct = function(loader, "jpeg_idct_islow");
  REQUIRE(idct != nullptr);
  CHECK(idct->self.samples == 30);
  CHECK(idct->share == Approx(0.6));
  CHECK(idct->interval.low == Approx(0.45179).epsilon(1e-3));
  CHECK(idct->interval.high == Approx(0.73592).epsilon(1e-3));
  const FunctionShare* decode = function(loader, "decode_mcu");
  REQUIRE(decode != nullptr);
  CHECK(decode->self.samples == 10);
  CHECK(decode->total.samples == 40);
  const FunctionShare* move = function(loader, "memmove");
  REQUIRE(move != nullptr);
  CHECK(move->self.samples == 5);
  for (const char* name : {"evaluate", "clock_gettime", "_PyEval_EvalFrameDefault", "ImagingCrop"})
    CHECK(function(loader, name) == nullptr);
  REQUIRE(loader.python.size() == 1);
  CHECK(loader.python[0].frame.name == "pil_loader");
  CHECK(loader.python[0].self.samples == 5);
  CHECK(loader.python[0].total.samples == 50);
  CHECK(map.ops[1].op.name == "Compose");  // what the runner does itself
  CHECK(map.ops[1].all.samples == 7);
  const OpMap& crop = map.ops[2];
  CHECK(crop.all.samples == 6);
  CHECK(function(crop, "memmove")->share == 1);
  CHECK(function(crop, "decode_mcu") == nullptr);
  CHECK(map.outside.samples == 8);
  CHECK(map.tracer.samples == 6);
}

TEST_CASE("the JSON is the research system's") {
  const auto json = map_json(map_of(two_workers()));
  CHECK(json.size() == 2);
  CHECK(json["op_to_func"].size() == 2);
  CHECK(json["op_to_func"]["Loader"] == nlohmann::ordered_json{"jpeg_idct_islow|libjpeg.so.62.3.0",
                                                               "decode_mcu|libjpeg.so.62.3.0",
                                                               "memmove|libc.so.6"});
  CHECK(json["op_to_func"]["Crop"] == nlohmann::ordered_json{"memmove|libc.so.6"});
  CHECK(json["common_funcs_to_op"].size() == 1);
  CHECK(json["common_funcs_to_op"]["memmove|libc.so.6"] == nlohmann::ordered_json{"Loader", "Crop"});
}

TEST_CASE("what one sample hit is not listed, nor what may be rarer than the threshold") {
  Run run;
  run.samples(997, 1, {kDecode});
  run.samples(2, 1, {kMove});
  run.samples(1, 1, {kIdct});
  run.stacks.flush(2);
  const Bytes bytes = run.bytes();
  const FunctionMap map = map_of(bytes);
  CHECK(function(map.ops[0], "decode_mcu")->listed);
  CHECK_FALSE(function(map.ops[0], "memmove")->listed);  // share 0.2 %, its lower bound 0.024 %
  CHECK_FALSE(function(map.ops[0], "jpeg_idct_islow")->listed);
  const FunctionMap all = map_of(bytes, {}, {.min_samples = 2, .min_share = 0.0002});
  CHECK(function(all.ops[0], "memmove")->listed);
  CHECK_FALSE(function(all.ops[0], "jpeg_idct_islow")->listed);  // a single sample may be chance
  const auto full = full_map_json(map);
  CHECK(full["ops"][0]["functions"].size() == 3);
  CHECK(full["ops"][0]["functions"][2]["listed"] == false);
}

TEST_CASE("samples that stand for several periods are worth less than as many samples") {
  Run run;
  for (int i = 0; i < 10; ++i) run.stacks.sample(1, run.stacks.stack({kDecode}), 0, 10);
  run.samples(100, 1, {kMove});
  run.stacks.flush(2);
  const OpMap op = map_of(run.bytes()).ops.at(0);
  CHECK(op.all.cpu_ns == 200 * kPeriod);
  CHECK(function(op, "decode_mcu")->share == Approx(0.5));
  CHECK(op.all.effective() == Approx(200.0 * 200 / (10 * 100 + 100)));  // 36.4 of 110
}

TEST_CASE("inlined functions: the innermost is the leaf, the others are on the stack") {
  Run run;
  const std::uint64_t place = run.stacks.inlined({"inner|libx.so", "middle|libx.so", "outer|libx.so"});
  const std::uint64_t stack = run.stacks.child(run.stacks.stack({kEval}), place);
  for (int i = 0; i < 3; ++i) run.stacks.sample(1, stack);
  run.stacks.flush(2);
  const OpMap op = map_of(run.bytes()).ops.at(0);
  CHECK(function(op, "inner")->self.samples == 3);
  CHECK(function(op, "outer")->self.samples == 0);
  CHECK(function(op, "outer")->total.samples == 3);
}

TEST_CASE("recursion counts once; lost names and definitions are said") {
  Run run;
  run.samples(2, 1, {kDecode, kDecode, kDecode});
  run.made.define<Kind::location>(0, at(0), 900, 1, 0x1e7f80);
  run.made.define<Kind::location>(0, at(0), 901, 1, 0x1e8000);
  for (const std::uint64_t location : {900, 901}) run.stacks.sample(1, run.stacks.child(0, location));
  run.stacks.sample(1, 777);  // an undefined stack
  run.stacks.sample(1, run.stacks.stack({kMove}), kOnBehalf | kCutUnwind);
  run.stacks.flush(2);
  const OpMap op = map_of(run.bytes()).ops.at(0);
  CHECK(function(op, "decode_mcu")->total.samples == 2);
  CHECK(function(op, "libjpeg.so.62.3.0!?")->self.samples == 2);
  CHECK(op.unnamed.samples == 1);
  CHECK(op.on_behalf == 1);
  CHECK(op.cut == 1);
}

TEST_CASE("by operation, by worker") {
  const Bytes bytes = two_workers();
  const FunctionMap crop = map_of(bytes, {.op = "Crop", .worker = {}});
  REQUIRE(crop.ops.size() == 1);
  CHECK(crop.ops[0].all.samples == 6);
  const FunctionMap second = map_of(bytes, {.op = {}, .worker = 1});
  REQUIRE(second.ops.size() == 3);
  const auto is_loader = [](const OpMap& op) { return op.op.name == "Loader"; };
  const auto loader = std::find_if(second.ops.begin(), second.ops.end(), is_loader);
  REQUIRE(loader != second.ops.end());
  CHECK(loader->all.samples == 4);
}

TEST_CASE("exact calls and times stand beside the function that they belong to") {
  Run run;
  run.stacks.hook(2, 1, "decode_mcu", "libjpeg.so.62");
  run.stacks.hook(2, 2, "read", "libc.so.6");
  run.samples(5, 1, {kDecode});
  run.stacks.flush(2);
  ThreadWriter worker(run.made, 2, 1);
  for (int i = 0; i < 2; ++i) {
    worker.record<Kind::op>(at(10 + 10 * i), 1);
    worker.record<Kind::native>(at(15 + 10 * i), 1, 40, 3'000'000, 0);
    worker.record<Kind::native>(at(15 + 10 * i), 2, 3, 500'000, 4096);
    worker.record<Kind::leave>(at(16 + 10 * i));
  }
  worker.flush();
  const OpMap op = map_of(run.bytes()).ops.at(0);
  CHECK(op.calls == 2);
  CHECK(op.wall_ns == 12'000'000);
  REQUIRE(function(op, "decode_mcu")->exact);
  CHECK(function(op, "decode_mcu")->exact->calls == 80);
  CHECK(function(op, "decode_mcu")->exact->ns == 6'000'000);
  REQUIRE(op.entry_points.size() == 2);
  const EntryPoint& read = op.entry_points.at({"read", "libc.so.6"});
  CHECK(read.calls == 6);
  CHECK(read.bytes == 8192);
}

TEST_CASE("operators counted in some batches are taken for all calls and all the time of their operation") {
  Run run;
  run.stacks.hook(2, 1, "aten::div", "libtorch_cpu.so");
  run.stacks.hook(2, 2, "read", "libc.so.6");
  run.stacks.flush(2);
  ThreadWriter worker(run.made, 2, 1);
  for (int i = 0; i < 6; ++i) {
    const bool counted = i % 3 == 0;
    worker.record<Kind::fetch>(at(10 + 10 * i), 1, 0, i);
    if (!counted) worker.record<Kind::no_operators>(at(10 + 10 * i));
    worker.record<Kind::op>(at(11 + 10 * i), 1);
    // Counted batches may be slow ones: here their operation takes 8 ms, that of the others 2 ms.
    const int end = counted ? 19 : 13;
    if (counted) worker.record<Kind::native>(at(12 + 10 * i), 1, 5, 6'000'000, 0);
    worker.record<Kind::native>(at(12 + 10 * i), 2, 3, 500'000, 4096);
    worker.record<Kind::leave>(at(end + 10 * i));
    worker.record<Kind::leave>(at(19 + 10 * i));
  }
  worker.flush();
  const OpMap op = map_of(run.bytes()).ops.at(0);
  CHECK(op.calls == 6);
  const EntryPoint& div = op.entry_points.at({"aten::div", "libtorch_cpu.so"});
  CHECK(div.calls == 30);
  CHECK(op.wall_ns == 24'000'000);
  CHECK(div.ns == 18'000'000);  // the share in counted batches: 12 of 16 ms
  CHECK(div.estimated);
  const EntryPoint& read = op.entry_points.at({"read", "libc.so.6"});
  CHECK(read.calls == 18);
  CHECK(!read.estimated);
}

TEST_CASE("a sample stands for 1,000 s at most: more is damage") {
  Run run;
  run.made.define<Kind::sampling>(2, at(1), 199, UINT64_MAX, 1);
  run.samples(5, 1, {kDecode});
  run.stacks.flush(2);
  CHECK(map_of(run.bytes()).ops.at(0).all.cpu_ns == 5e12);
}

TEST_CASE("no samples: the reason in one sentence") {
  const auto text = [](const Bytes& bytes) { return map_text(map_of(bytes), Terminal{.width = 200}); };
  CHECK(text(MadeTrace().bytes).find("recorded without sampling") != std::string::npos);
  MadeTrace off;
  MadeStacks(off).sampling(1, 0);
  CHECK(text(off.bytes).find("sampling was off (LOTUS_SAMPLE_HZ=0)") != std::string::npos);
  MadeTrace brief;
  MadeStacks(brief).sampling(1, 199);
  CHECK(text(brief.bytes).find("ends before the first") != std::string::npos);
  brief.close();
  CHECK(text(brief.bytes).find("at 199 Hz, nothing used the CPU") != std::string::npos);
  MadeTrace lost;
  ProcessEndFrame end{};
  end.lost_snapshots = 3;
  lost.process_end(1, end);
  CHECK(text(lost.bytes).find("were lost") != std::string::npos);
  CHECK(map_json(map_of(MadeTrace().bytes)).dump() == R"({"op_to_func":{},"common_funcs_to_op":{}})");
}

TEST_CASE("without samples, what was counted is told all the same") {
  MadeTrace made;
  made.loader(1, 1);
  made.iterator(1, 1);
  const std::uint32_t number = made.worker(1, 0);
  made.op(number, 1, OpRole::loader, "Loader");
  MadeStacks stacks(made);
  stacks.sampling(number, 0);
  stacks.hook(number, 1, "jpeg_read_header", "libjpeg.so.62");
  ThreadWriter worker(made, number, 1);
  worker.record<Kind::op>(at(10), 1);
  worker.record<Kind::native>(at(15), 1, 1234, 3'000'000, 0);
  worker.record<Kind::leave>(at(16));
  worker.flush();
  made.close();
  const std::string text = map_text(map_of(made.bytes), Terminal{.width = 200});
  CHECK(text.starts_with("The trace holds no samples of the stack: sampling was off (LOTUS_SAMPLE_HZ=0)."));
  CHECK(text.find("\nLoader\n") != std::string::npos);
  CHECK(text.find("jpeg_read_header  libjpeg.so.62  1,234  3.00 ms") != std::string::npos);
}

TEST_CASE("damaged frames of samples are left out and counted") {
  Run run;
  run.samples(10, 1, {kDecode});
  run.stacks.flush(2);
  const std::size_t good = run.made.bytes.size();
  run.samples(20, 1, {kMove});
  run.stacks.flush(2);
  Bytes bytes = run.bytes();
  // Finds the second frame of samples, which is behind the definitions of kMove's stack.
  const std::uint8_t type = static_cast<std::uint8_t>(FrameType::samples);
  std::size_t at_frame = 0;
  for (std::size_t i = good; i + sizeof(FrameHeader) < bytes.size(); ++i)
    if (std::memcmp(&bytes[i], &kFrameMagic, sizeof kFrameMagic) == 0 && bytes[i + 4] == type) at_frame = i;
  REQUIRE(at_frame > good);
  bytes[at_frame + sizeof(FrameHeader) + 12] ^= 0x55;
  const FunctionMap map = map_of(bytes);
  CHECK(map.ops.at(0).all.samples == 10);
  CHECK(map.sampling.lost == 20);
}

// Samples hit functions at random: on average, the interval must contain the true share 19 times out of 20.
TEST_CASE("intervals of independent samples hold the truth as often as they say") {
  constexpr int kRuns = 2000;
  std::mt19937_64 random(1);
  for (const double truth : {0.62, 0.33, 0.05, 0.01}) {
    int held = 0;
    std::binomial_distribution<int> hits(400, truth);
    for (int i = 0; i < kRuns; ++i) {
      const Bounds bounds = exact_interval(hits(random) / 400.0, 400);
      held += bounds.low <= truth && truth <= bounds.high ? 1 : 0;
    }
    CHECK(held >= 0.945 * kRuns);
  }
}

// Twenty simulated runs: calls of varying length, and a sample after each period of the CPU clock. The true
// share is that of the CPU time which the function used in that run.
TEST_CASE("intervals of twenty runs hold the truth in at least nineteen") {
  const std::string names[] = {kDecode, kIdct, kMove};
  constexpr double kMean[] = {2.2e6, 1.1e6, 1.5e5};  // ns a call; the last one far shorter than the period
  int held[3] = {};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    Run run;
    double clock = 0, used[3] = {}, next = static_cast<double>(random() % kPeriod);
    for (int call = 0; call < 400; ++call)
      for (std::size_t i = 0; i < 3; ++i) {
        const double length = std::gamma_distribution<double>(4, kMean[i] / 4)(random);
        used[i] += length;
        clock += length;
        for (; next < clock; next += kPeriod) run.stacks.sample(1, Frames{kEval, names[i]});
      }
    run.stacks.flush(2);
    const OpMap op = map_of(run.bytes()).ops.at(0);
    for (std::size_t i = 0; i < 3; ++i) {
      const FunctionShare* f = function(op, names[i].substr(0, names[i].find('|')));
      const Bounds bounds = f == nullptr ? exact_interval(0, op.all.effective()) : f->interval;
      held[i] += bounds.low <= used[i] / clock && used[i] / clock <= bounds.high ? 1 : 0;
    }
    CHECK(op.functions.size() <= 3);
  }
  for (const int count : held) CHECK(count >= 19);
}

TEST_CASE("people read short names of C++ functions, JSON has the whole ones") {
  const std::string kernel = "call<at::add_kernel(at::Iterator&)::{lambda(float)#1}>(char**, long const*)";
  Run run;
  run.samples(9, 1, {kEval, kLoad, kernel + "|libtorch_cpu.so"});
  run.stacks.flush(2);
  const FunctionMap map = map_of(run.bytes());
  const std::string text = map_text(map, Terminal{.width = 200});
  CHECK(text.find("call<add_kernel{lambda(float)}>") != std::string::npos);
  CHECK(text.find("at::Iterator") == std::string::npos);
  CHECK(map_json(map)["op_to_func"]["Loader"][0] == kernel + "|libtorch_cpu.so");
  CHECK(full_map_json(map)["ops"][0]["functions"][0]["function"] == kernel);
}

TEST_CASE("the text fits its width and says its rule") {
  const FunctionMap map = map_of(two_workers());
  for (const std::size_t width : {60, 80, 200}) {
    const std::string text = map_text(map, Terminal{.width = width});
    CHECK(text.find("decode_mcu") != std::string::npos);
    CHECK(text.find("Clopper") != std::string::npos);
  }
  const std::string text = map_text(map, Terminal{.width = 200});
  INFO(text);
  CHECK(text.find("for 1 % run 6.0 times as long") != std::string::npos);  // 298.07 / 50
  CHECK(text.find("a function of 5.8 % or more") != std::string::npos);    // 1 − 0.05^(1/50)
}

TEST_CASE(
    "a file that ends too soon has samples of calls whose end is not in it: they have no cost per call") {
  Run run;
  ThreadWriter worker(run.made, 2, 1), feeder(run.made, 2, 2);
  run.made.define<Kind::thread>(2, at(1), 2, 555, "feeder");
  run.samples(4, 1, {kEval, kDecode});
  run.stacks.flush(2, 10);  // samples may come first
  span<Kind::op>(worker, 5, 15, 1);
  worker.flush();
  span<Kind::op>(feeder, 5, 30, 1);
  feeder.flush();
  run.samples(1, 1, {kEval, kDecode});
  run.stacks.flush(2, 14);
  run.samples(3, 1, {kEval, kMove});  // the feeder's records are of another thread
  run.stacks.flush(2, 20);
  run.stacks.sample(1, run.stacks.stack({kEval, kMove}), kOnBehalf, 1, 777);  // a thread without records
  run.stacks.flush(2, 29);
  run.samples(6, 0, {kEval, kMove});  // in no operation
  run.samples(2, 2, {kEval, kMove});
  run.stacks.flush(3, 20);  // the trace has nothing else of this process
  const FunctionMap cut = map_of(run.made.bytes);
  REQUIRE(cut.ops.size() == 1);
  CHECK(cut.ops[0].all.samples == 11);  // includes the calls that have no end in the file
  CHECK(cut.outside.samples == 6);
  CHECK(cut.sampling.without_end == 5);
  CHECK(map_text(cut, Terminal{.width = 400}).find("5 samples fell into calls whose end") !=
        std::string::npos);
  CHECK(full_map_json(cut)["sampling"]["in_calls_without_end"] == 5);
  const auto costs_of = [](const Bytes& bytes) {
    const TemporaryFile file(bytes);
    Trace trace(file.path());
    FrameTable frames;
    CostReader reader(trace, frames);
    show(trace, reader);
    return reader.take().ops.at("Loader").cpu.samples;
  };
  CHECK(costs_of(run.made.bytes) == 6);
  // The trace has all records of a process that has ended.
  run.made.close();
  CHECK(map_of(run.made.bytes).sampling.without_end == 0);
  CHECK(costs_of(run.made.bytes) == 11);
}

TEST_CASE("a function without a symbol is told with the exported function that it ran in") {
  const std::string place = "libjpeg.so.62!0x226a0|libjpeg.so.62",
                    lines = "jpeg_read_scanlines|libjpeg.so.62", raw = "jpeg_read_raw_data|libjpeg.so.62",
                    output = "libjpeg.so.62!0x1a000|libjpeg.so.62", pillow = "ImagingJpegDecode|_imaging.so",
                    idct = "jpeg_idct_by_code|libjpeg.so.62";
  Run run;
  run.samples(3, 1, {kLoad, pillow, lines, output, place});
  run.samples(2, 1, {kLoad, pillow, raw, place});
  run.samples(2, 1, {kLoad, lines, pillow, output});  // called back from another library: not known
  run.samples(2, 1, {kLoad, lines, idct});
  run.stacks.flush(2);
  const FunctionMap map = map_of(run.bytes());
  std::map<std::string, std::string> under;
  for (const auto& function : map.ops.at(0).functions) under[function.frame.name] = function.under;
  CHECK(under.at("libjpeg.so.62!0x226a0") == "jpeg_read_scanlines");
  CHECK(under.at("libjpeg.so.62!0x1a000").empty());
  CHECK(under.at("jpeg_idct_by_code").empty());
  const std::string text = map_text(map, Terminal{200, false});
  CHECK(text.find("libjpeg.so.62!0x226a0 in jpeg_read_scanlines") != std::string::npos);
  CHECK(text.find("jpeg_idct_by_code (by its code)") != std::string::npos);
  const auto json = full_map_json(map);
  for (const auto& function : json["ops"][0]["functions"]) {
    const bool by_code = function["function"] == "jpeg_idct_by_code";
    const bool by_address = function["function"].get<std::string>().find("!0x") != std::string::npos;
    CHECK(function["named_by"] == (by_code ? "code" : by_address ? "address" : "symbol"));
  }
}
