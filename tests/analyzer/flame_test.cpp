// Stacks for flame graphs: folded lines and speedscope's JSON contain the stacks that were recorded.
#include <doctest/doctest.h>

#include <lotus/snapshot.hpp>
#include <nlohmann/json.hpp>

#include "answers/stacks/flame.hpp"
#include "made_stacks.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;

namespace {

const std::string kEval = "_PyEval_EvalFrameDefault|python3.11";
const std::string kTracer = "evaluate|liblotus.so";
const std::string kLoad = "pil_loader|folder.py";
const std::string kDecode = "decode;mcu|libjpeg.so.62.3.0";

struct Flames {
  FlameBuilder builder;
  std::vector<FlameOp> ops;

  // `flags` are set in the stacks that end in the tracer and, unless 0, in one more stack of each worker.
  explicit Flames(bool everything, std::uint64_t flags = 0, const ProfileFilter& filter = {})
      : builder(FlameTime::cpu, everything) {
    MadeTrace made;
    MadeStacks stacks(made);
    made.loader(1, 2);
    made.iterator(1, 1);
    for (const std::uint64_t worker : {0, 1}) {  // the operation's id differs between workers
      const std::uint32_t number = made.worker(1, worker);
      made.op(number, 1 + worker, OpRole::loader, "Loader");
      stacks.sampling(number);
      for (int i = 0; i < 3; ++i) stacks.sample(1 + worker, {kEval, kTracer, kEval, kLoad, kEval, kDecode});
      stacks.sample(1 + worker, stacks.stack({kEval, kLoad, kTracer}), flags);
      if (flags != 0) stacks.sample(1 + worker, stacks.stack({kLoad, kDecode}), flags);
      stacks.sample(0, Frames{kEval});
      stacks.flush(number);
    }
    made.close();
    const TemporaryFile file(made.bytes);
    Trace trace(file.path());
    Profile profile(trace, filter);
    show(trace, profile);
    builder.add(trace, profile);
    ops = builder.take();
  }
  std::string folded() const {
    std::string text;
    write_folded(ops, builder.frames(), [&](std::string_view more) { text += more; });
    return text;
  }
};

}  // namespace

TEST_CASE("folded stacks: one line each, outermost first, in µs of CPU time") {
  CHECK(Flames(false).folded() ==
        "Loader;pil_loader;evaluate 10000\n"
        "Loader;pil_loader;decode:mcu 30000\n"
        "(outside operations);_PyEval_EvalFrameDefault 10000\n");
}

TEST_CASE(
    "a stack that was cut off does not hang from its operation, or a Python function, as if it began there") {
  for (const std::uint64_t flags : {kCutStack, kCutUnwind, kCutStack | kCutUnwind})
    CHECK(Flames(false, flags).folded() ==
          "Loader;(cut off);pil_loader;evaluate 10000\n"
          "Loader;pil_loader;(cut off);decode:mcu 10000\n"
          "Loader;pil_loader;decode:mcu 30000\n"
          "(outside operations);_PyEval_EvalFrameDefault 10000\n");
}

TEST_CASE("what is outside of operations can be had alone") {
  CHECK(Flames(false, 0, {.op = std::string(kOutsideOps), .worker = {}}).folded() ==
        "(outside operations);_PyEval_EvalFrameDefault 10000\n");
}

TEST_CASE("everything: also the interpreter's and the tracer's frames") {
  const std::string text = Flames(true).folded();
  CHECK(text.find("Loader;_PyEval_EvalFrameDefault;evaluate;_PyEval_EvalFrameDefault;pil_loader;"
                  "_PyEval_EvalFrameDefault;decode:mcu 30000\n") != std::string::npos);
}

TEST_CASE("speedscope: a profile for each operation, frames once, weights in ns") {
  const Flames flames(false);
  std::string text;
  write_speedscope(flames.ops, flames.builder.frames(), "a.lotus",
                   [&](std::string_view more) { text += more; });
  const auto file = nlohmann::json::parse(text);
  CHECK(file["$schema"] == "https://www.speedscope.app/file-format-schema.json");
  REQUIRE(file["profiles"].size() == 2);
  const auto& loader = file["profiles"][0];
  CHECK(loader["type"] == "sampled");
  CHECK(loader["name"] == "Loader");
  CHECK(loader["unit"] == "nanoseconds");
  CHECK(loader["endValue"] == 8 * kPeriod);
  REQUIRE(loader["samples"].size() == loader["weights"].size());
  const auto& frames = file["shared"]["frames"];
  for (std::size_t i = 0; i < loader["samples"].size(); ++i) {
    const auto& stack = loader["samples"][i];
    REQUIRE(stack.size() == 2);
    CHECK(frames[stack[0].get<std::size_t>()]["name"] == "pil_loader");
    const bool tracer = frames[stack[1].get<std::size_t>()]["name"] == "evaluate";
    CHECK(loader["weights"][i] == (tracer ? 2 : 6) * kPeriod);
  }
}
