// Steps of training: which storages live when, what memory is in use, what grows; expected values by hand.
#include <doctest/doctest.h>

#include <algorithm>

#include "answers/memory/answer.hpp"
#include "answers/memory/steps.hpp"
#include "answers/memory/views.hpp"
#include "made_trace.hpp"

using namespace lotus;
using namespace lotus::analyzer;
using namespace lotus::analyzer::test;
using doctest::Approx;

namespace {

constexpr std::uint64_t kForward = 0, kBackward = 1, kOptimizer = 2;
constexpr std::uint64_t kLinear = 1, kBack = 2, kUpdate = 3;  // hooks

void define_all(MadeTrace& made) {
  made.define<Kind::hook>(1, at(0), kLinear, std::string("aten::linear"), std::string("libtorch_cpu.so"));
  made.define<Kind::hook>(1, at(0), kBack, std::string("aten::mm"), std::string("libtorch_cpu.so"));
  made.define<Kind::hook>(1, at(0), kUpdate, std::string("aten::add_"), std::string("libtorch_cpu.so"));
  made.define<Kind::python_code>(1, at(0), std::uint64_t{1}, std::string("train"),
                                 std::string("/home/me/train.py"), std::uint64_t{10});
  made.define<Kind::place>(1, at(0), std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{12},
                           std::uint64_t{30});
}

std::uint64_t ticks_of(double ms) { return at(ms) - at(0); }

constexpr std::uint64_t kNothing = 0;

void record_step(ThreadWriter& thread, std::uint64_t ticks, std::uint64_t number, std::uint64_t live) {
  thread.record<Kind::step>(ticks, number, live, kNothing, kNothing, kNothing, kNothing, kNothing, kNothing);
}
void record_step_end(ThreadWriter& thread, std::uint64_t ticks, std::uint64_t number, std::uint64_t live) {
  thread.record<Kind::step_end>(ticks, number, live, kNothing, kNothing, kNothing, kNothing, kNothing,
                                kNothing, kNothing, kNothing);
}

// A step of 10 ms. Parameters at 1000 (100 bytes) and memory that nothing uses (50 bytes) are there before.
//  1 ms: linear reads parameters and makes 2000 (40 bytes), with a workspace of 8 bytes at 9000
//  4 ms: mm reads 2000, makes the gradient 3000 (100 bytes)
//  6 ms: 2000 is released
//  8 ms: add_ changes the parameters by the gradient; then the gradient is released
void step(ThreadWriter& thread, std::uint64_t number, double from, bool keeps, bool known = true) {
  const std::uint64_t live = known ? 150 + (keeps ? 16 * number : 0) : ~std::uint64_t{0};
  record_step(thread, at(from), number, live);
  const auto operand = [&](double ms, std::uint64_t use, std::uint64_t data, std::uint64_t bytes) {
    thread.record<Kind::operand>(at(from + ms), use, data, bytes, std::uint64_t{0}, std::uint64_t{0});
  };
  const auto torch_op = [&](double ms, std::uint64_t hook, double took, std::uint64_t phase) {
    thread.record<Kind::torch_op>(at(from + ms), hook, std::uint64_t{1}, ticks_of(took), phase,
                                  std::uint64_t{0}, std::uint64_t{0});
  };
  operand(1, 0, 1000, 100);
  thread.record<Kind::allocated>(at(from + 1.2), std::uint64_t{2000}, std::uint64_t{40}, std::uint64_t{0});
  thread.record<Kind::allocated>(at(from + 1.3), std::uint64_t{9000}, std::uint64_t{8}, std::uint64_t{0});
  thread.record<Kind::released>(at(from + 1.8), std::uint64_t{9000}, std::uint64_t{8});
  operand(2, 1, 2000, 40);
  torch_op(2, kLinear, 1, kForward);
  if (keeps) thread.record<Kind::allocated>(at(from + 3), 5000 + number, std::uint64_t{16}, std::uint64_t{1});
  operand(4, 0, 2000, 40);
  thread.record<Kind::allocated>(at(from + 4.5), std::uint64_t{3000}, std::uint64_t{100}, std::uint64_t{0});
  operand(5, 1, 3000, 100);
  torch_op(5, kBack, 1, kBackward);
  thread.record<Kind::released>(at(from + 6), std::uint64_t{2000}, std::uint64_t{40});
  operand(8, 0, 1000, 100);
  operand(8, 2, 3000, 100);
  operand(8.5, 1, 1000, 100);
  torch_op(8.5, kUpdate, 0.5, kOptimizer);
  thread.record<Kind::released>(at(from + 9), std::uint64_t{3000}, std::uint64_t{100});
  record_step_end(thread, at(from + 10), number, live + (keeps ? 16 : 0));
}

struct Told {
  TemporaryFile file;
  Trace trace;
  std::vector<memory::RecordedStep> steps;

  explicit Told(MadeTrace& made) : file((made.close(), made.bytes)), trace(file.path()) {
    memory::StepCollector collector(trace, steps);
    show(trace, collector);
    collector.finish();
  }
};

}  // namespace

TEST_CASE("memory: storages live from the operator that makes them until they are released") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  step(thread, 0, 10, false);
  thread.flush();
  Told told(made);
  REQUIRE(told.steps.size() == 1);
  const memory::RecordedStep& recorded = told.steps[0];
  CHECK(recorded.is_whole());
  CHECK(recorded.trains());
  CHECK(recorded.seconds == Approx(0.010));
  const memory::Step& step = recorded.step;
  REQUIRE(step.operators.size() == 3);
  CHECK(step.operators[0].workspace == 8);
  CHECK(step.operators[1].phase == memory::Phase::backward);
  REQUIRE(step.storages.size() == 3);  // the workspace is none
  const memory::Storage &parameters = step.storages[0], &activation = step.storages[1],
                        &gradient = step.storages[2];
  CHECK(parameters.older);
  CHECK(parameters.survives);
  CHECK(parameters.uses == std::vector<std::size_t>{0, 2});
  CHECK(activation.born == 0);
  CHECK(activation.released == 2);  // between the second and the third operator
  CHECK(gradient.born == 1);
  CHECK(gradient.released == 3);
  CHECK(recorded.lives[0].role == memory::Role::parameter);
  CHECK(recorded.lives[1].role == memory::Role::activation);
  CHECK(recorded.lives[2].role == memory::Role::gradient);
  // In place: the parameters are read and written.
  CHECK(step.operators[2].operands[0].read);
  CHECK(step.operators[2].operands[0].written);
  CHECK_FALSE(step.operators[2].operands[1].written);
}

TEST_CASE("memory: a view neither reads nor writes its storage, what is written in place or to out does") {
  constexpr std::uint64_t kSlice = 4, kAdd = 5, kOwn = 6;
  MadeTrace made;
  define_all(made);
  const auto hook = [&](std::uint64_t id, const char* name) {
    made.define<Kind::hook>(1, at(0), id, std::string(name), std::string("libtorch_cpu.so"));
  };
  hook(kSlice, "aten::slice");
  hook(kAdd, "aten::add");
  hook(kOwn, "mine::scale");
  ThreadWriter thread(made, 1, 1);
  record_step(thread, at(0), 0, 100);
  const auto ran = [&](double ms, std::uint64_t name, const std::vector<std::uint64_t>& uses) {
    for (const std::uint64_t use : uses)
      thread.record<Kind::operand>(at(ms), use, std::uint64_t{1000}, std::uint64_t{100}, std::uint64_t{0},
                                   std::uint64_t{0});
    thread.record<Kind::torch_op>(at(ms + 0.5), name, std::uint64_t{1}, ticks_of(0.5), kForward,
                                  std::uint64_t{0}, std::uint64_t{0});
  };
  constexpr std::uint64_t kFirst = 0, kOut = 6, kResult = 1;
  ran(1, kSlice, {kFirst, kResult});
  ran(2, kAdd, {kFirst, kOut, kResult});
  ran(3, kUpdate, {kFirst, kResult});
  ran(4, kOwn, {kFirst, kResult});  // not PyTorch's: its name says nothing
  record_step_end(thread, at(5), 0, 100);
  thread.flush();
  Told told(made);
  REQUIRE(told.steps.size() == 1);
  const auto& operators = told.steps[0].step.operators;
  REQUIRE(operators.size() == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    REQUIRE(operators[k].operands.size() == 1);
    CHECK(operators[k].operands[0].read == (k > 0));
    CHECK(operators[k].operands[0].written == (k > 0));
  }
  CHECK(told.steps[0].step.storages[0].uses.size() == 4);
}

TEST_CASE("memory: the peak, what is alive at it, and the floor") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  step(thread, 0, 10, false);
  thread.flush();
  Told told(made);
  const memory::MemoryAnswer answer = memory::answer_of(told.steps, std::nullopt);
  REQUIRE(answer.step != nullptr);
  CHECK(answer.step->peak_bytes == 150 + 40 + 100);
  CHECK(answer.step->peak_operator == 1);
  CHECK(answer.by_role.at(memory::Role::untouched) == 50);
  CHECK(answer.by_role.at(memory::Role::parameter) == 100);
  CHECK(answer.by_role.at(memory::Role::activation) == 40);
  CHECK(answer.by_role.at(memory::Role::gradient) == 100);
  CHECK(answer.workspace_at_peak == 0);
  CHECK(answer.floor.bytes == 3 * 4096);  // parameters, what is made of them, workspace: whole pages
  CHECK(answer.floor.op == 0);
  REQUIRE(answer.alive_at_peak.size() == 4);  // that which nothing uses is a row
  for (const memory::Group& group : answer.alive_at_peak)
    if (group.role == memory::Role::activation) CHECK(memory::source_text(group.source) == "train.py:12");
}

TEST_CASE("memory: what each step leaves behind grows") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  for (std::uint64_t number = 0; number < 4; ++number)
    step(thread, number, 10 + 10 * static_cast<double>(number), true);
  thread.flush();
  Told told(made);
  const memory::MemoryAnswer answer = memory::answer_of(told.steps, std::nullopt);
  CHECK(answer.growth.steps == 2);  // the first one does not count, the last one has none behind it
  CHECK(answer.growth.bytes_per_step == 16);
  REQUIRE(answer.growth.groups.size() == 1);
  CHECK(answer.growth.groups[0].source.line == 12);
  CHECK_FALSE(answer.growth.keeps_graphs);
  // What an earlier step left is known there, and untouched.
  CHECK(told.steps[3].live_before == 150 + 48);
}

TEST_CASE("memory: one step more than the first tells nothing of growth") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  step(thread, 0, 10, true);
  step(thread, 1, 20, true);
  thread.flush();
  Told told(made);
  CHECK(memory::answer_of(told.steps, std::nullopt).growth.steps == 0);
}

TEST_CASE("memory: a step that was cut off is told as such, one without operators not at all") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  record_step(thread, at(5), 0, 0);
  record_step_end(thread, at(9), 0, 0);
  record_step(thread, at(10), 1, 10);
  thread.record<Kind::allocated>(at(11), std::uint64_t{2000}, std::uint64_t{40}, std::uint64_t{1});
  thread.record<Kind::torch_op>(at(12), kLinear, std::uint64_t{1}, ticks_of(1), kForward, std::uint64_t{0},
                                std::uint64_t{0});
  thread.flush();
  Told told(made);
  REQUIRE(told.steps.size() == 1);
  CHECK_FALSE(told.steps[0].ended);
  CHECK(told.steps[0].peak_bytes == 50);
}

TEST_CASE("memory: a step in which records are lost is not whole") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  record_step(thread, at(10), 1, 10);
  thread.flush();
  thread.record<Kind::allocated>(at(11), std::uint64_t{2000}, std::uint64_t{40}, std::uint64_t{1});
  thread.drop();
  thread.record<Kind::torch_op>(at(12), kLinear, std::uint64_t{1}, ticks_of(1), kForward, std::uint64_t{0},
                                std::uint64_t{0});
  record_step_end(thread, at(13), 1, 10);
  thread.flush();
  Told told(made);
  REQUIRE(told.steps.size() == 1);
  CHECK(told.steps[0].incomplete);
  CHECK_FALSE(told.steps[0].is_whole());
}

TEST_CASE("memory: where the level before a step is not known, the peak is that of what the step uses") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  step(thread, 1, 10, false, false);
  thread.flush();
  Told told(made);
  REQUIRE(told.steps.size() == 1);
  CHECK_FALSE(told.steps[0].live_known);
  CHECK(told.steps[0].peak_bytes == 100 + 40 + 100);
  CHECK(memory::answer_of(told.steps, std::nullopt).by_role.count(memory::Role::untouched) == 0);
}

namespace {

// A step of 10 ms that makes `bytes` at `address`, and releases what lies at `old`; 0: nothing.
void plain_step(ThreadWriter& thread, std::uint64_t number, std::uint64_t live, std::uint64_t address,
                std::uint64_t bytes, std::uint64_t old) {
  const double from = 10 + 10 * static_cast<double>(number);
  record_step(thread, at(from), number, live);
  if (bytes > 0) thread.record<Kind::allocated>(at(from + 1), address, bytes, std::uint64_t{1});
  thread.record<Kind::torch_op>(at(from + 3), kLinear, std::uint64_t{1}, ticks_of(1), kForward,
                                std::uint64_t{0}, std::uint64_t{0});
  if (old > 0) thread.record<Kind::released>(at(from + 4), old, bytes);
  record_step_end(thread, at(from + 9), number, live + (old > 0 ? 0 : bytes));
}

constexpr std::uint64_t kMiB = 1 << 20;

}  // namespace

TEST_CASE("memory: what a later step releases does not grow") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  // A buffer of three steps.
  for (std::uint64_t i = 0; i < 12; ++i)
    plain_step(thread, i, kMiB * std::min<std::uint64_t>(i, 3), 4096 * (i + 1), kMiB,
               i < 3 ? 0 : 4096 * (i - 2));
  thread.flush();
  Told told(made);
  const memory::Growth growth = memory::answer_of(told.steps, std::nullopt).growth;
  CHECK(growth.groups.empty());
  CHECK(growth.trend != memory::Trend::rises);
  CHECK(memory::memory_findings(told.steps, memory::answer_of(told.steps, std::nullopt)).empty());
}

TEST_CASE("memory: what only some steps leave behind is told where memory in use rises all along") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  std::uint64_t live = 0;
  for (std::uint64_t i = 0; i < 12; ++i) {
    plain_step(thread, i, live, 4096 * (i + 1), i % 3 == 0 ? kMiB : 0, 0);
    live += i % 3 == 0 ? kMiB : 0;
  }
  thread.flush();
  Told told(made);
  const memory::MemoryAnswer answer = memory::answer_of(told.steps, std::nullopt);
  CHECK(answer.growth.groups.empty());
  CHECK(answer.growth.trend == memory::Trend::rises);
  const auto findings = memory::memory_findings(told.steps, answer);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].find("1.00 MiB at train.py:12") != std::string::npos);
  CHECK(memory::growth_note(answer).empty());
}

namespace {

std::string findings_text(const Told& told) {
  std::string text;
  for (const std::string& finding :
       memory::memory_findings(told.steps, memory::answer_of(told.steps, std::nullopt)))
    text += finding + "\n";
  return text;
}

}  // namespace

TEST_CASE("memory: what came in steps that are not recorded was not made before the first one") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  for (const std::uint64_t number : {0, 1, 10, 11, 20, 21})
    plain_step(thread, number, kMiB * (4 + number), 4096, 0, 0);
  thread.flush();
  const Told told(made);
  const memory::MemoryAnswer answer = memory::answer_of(told.steps, std::nullopt);
  CHECK(answer.step->step.number == 21);
  CHECK(answer.untold.bytes == 25 * kMiB);
  CHECK(answer.untold.at_first == 4 * kMiB);
  CHECK(answer.untold.since == 21 * kMiB);
  CHECK(answer.untold.between == 18 * kMiB);  // from 1 to 10, from 11 to 20
  CHECK(answer.untold.gaps);
  const std::string text = findings_text(told);
  CHECK(text.find("21.0 MiB or more, came after the first recorded step began") != std::string::npos);
  CHECK(text.find("LOTUS_STEPS=all") != std::string::npos);
  CHECK(text.find("data set") == std::string::npos);
}

TEST_CASE("memory: what was in use when the first recorded step began was made before it") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  for (const std::uint64_t number : {0, 1, 10, 11}) plain_step(thread, number, 20 * kMiB, 4096, 0, 0);
  thread.flush();
  const Told told(made);
  CHECK(memory::answer_of(told.steps, std::nullopt).untold.since == 0);
  CHECK(findings_text(told).starts_with(
      "100 % of the peak, 20.0 MiB, were made before the first recorded step"));
}

TEST_CASE("memory: no operator made what the program allocates between two of them") {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  step(thread, 0, 10, true);
  thread.flush();
  const Told told(made);
  std::size_t outside = 0;
  for (const memory::Storage& storage : told.steps[0].step.storages) {
    if (storage.older) CHECK_FALSE(storage.maker.has_value());
    if (storage.bytes == 40) CHECK(storage.maker == std::optional<std::size_t>(0));  // linear's
    if (storage.bytes != 16) continue;
    CHECK_FALSE(storage.maker.has_value());
    ++outside;
  }
  CHECK(outside == 1);
  Terminal terminal;
  terminal.all_columns = true;
  const std::string text =
      memory::memory_text(told.steps, memory::answer_of(told.steps, std::nullopt), 20, terminal);
  CHECK(text.find("(outside of operators)") != std::string::npos);
}

namespace {

// Steps of 10 ms and more that allocate and release a block of 1 MiB, with its 256 faults.
std::string faults_text(std::uint64_t steps, std::uint64_t kernel_ns) {
  MadeTrace made;
  define_all(made);
  ThreadWriter thread(made, 1, 1);
  std::uint64_t faults = 0, system_ns = 0;
  for (std::uint64_t number = 2; number < 2 + steps; ++number) {
    const double from = 20.0 * static_cast<double>(number);
    thread.record<Kind::step>(at(from), number, kMiB, faults, system_ns, kNothing, kNothing, kNothing,
                              kNothing);
    thread.record<Kind::allocated>(at(from + 1), std::uint64_t{4096}, kMiB, std::uint64_t{1});
    thread.record<Kind::torch_op>(at(from + 3), kLinear, std::uint64_t{1}, ticks_of(1), kForward,
                                  std::uint64_t{0}, std::uint64_t{0});
    thread.record<Kind::released>(at(from + 4), std::uint64_t{4096}, kMiB);
    faults += 256;
    system_ns += kernel_ns;
    thread.record<Kind::step_end>(at(from + 10), number, kMiB, faults, system_ns, kNothing, kNothing,
                                  kNothing, kNothing, kNothing, kNothing);
  }
  thread.flush();
  return findings_text(Told(made));
}

}  // namespace

TEST_CASE("memory: a share of page faults is told of steps that are long enough together") {
  CHECK(faults_text(30, 2'000'000).find("Up to 20.0 % of a usual step (30 steps after") != std::string::npos);
  const std::string few = faults_text(2, 8'000'000);
  CHECK(few.find("Page faults are a part of a usual step: its 1 blocks") != std::string::npos);
  CHECK(few.find("How large a part is not known from 2 steps") != std::string::npos);
  CHECK(few.find("of a usual step (") == std::string::npos);
}
