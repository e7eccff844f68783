#include "pipeline/parts.hpp"

#include "pipeline/libraries.hpp"
#include "system/clock.hpp"

namespace lotus {
namespace {

constexpr std::uint8_t kEnoughCalls = 4;
constexpr std::uint64_t kLeastPerSecond = 50'000;  // as long as 20 µs on average: a record costs 1 % of that

constinit thread_local std::uint32_t waits = 0;

// One that was told as an operation elsewhere stays visible there.
void settle(CodeInfo& info, bool is_operation) {
  info.part = is_operation ? Verdict::yes : Verdict::no;
  if (is_operation || info.is_operation) return;
  if (info.holder == Verdict::open) info.holder = Verdict::no;
  if (info.border == Verdict::open) info.border = Verdict::no;
}

// `waited`: for other threads. What lasts as long as its thread does, but for what came before, may be the
// loop that makes all batches.
void learn(CodeInfo& info, const StageContext& stage, std::uint64_t begin, std::uint64_t end, bool waited) {
  if (info.part != Verdict::open) return;
  if (waited) return settle(info, false);
  const std::uint64_t ticks = end - begin;
  if (stage.body != nullptr && 2 * ticks >= end - stage.begin) return;
  constexpr std::uint64_t kMost = UINT32_MAX / kEnoughCalls;
  info.part_ticks += static_cast<std::uint32_t>(ticks < kMost ? ticks : kMost);
  if (++info.part_tries < kEnoughCalls) return;
  settle(info, info.part_ticks / kEnoughCalls >= ticks_per_second() / kLeastPerSecond);
}

// What it calls are its parts already: none that is too short is recorded until it is known.
py::Object* run_open(const Call& call, py::Object* first, const StageContext& stage) {
  StageContext parts(stage, first, stage.opened);
  const ContextScope scope(parts);
  return call.run();
}

}  // namespace

bool is_part(const Call& call, const py::Object* first, const StageContext& stage) {
  const bool looked_at =
      stage.owner == kProgram && (stage.parts || (first != nullptr && first == stage.loader));
  if (!looked_at) {
    call.info->is_operation = true;
    return false;
  }
  if (call.info->part != Verdict::yes) return true;
  call.info->is_operation = true;
  return false;
}

py::Object* run_part_unrecorded(Call& call, py::Object* first, const StageContext& stage) {
  if (call.info->part == Verdict::no) return call.run();
  const std::uint32_t generation = process.generation, waits_before = waits;
  CodeInfo* const info = call.info;
  py::api.Py_IncRef(call.code);
  py::Object* const code = call.code;  // keeps `info`
  const std::uint64_t begin = ticks_now();
  py::Object* const result = !stage.parts ? run_open(call, first, stage) : call.run();
  if (generation == process.generation) learn(*info, stage, begin, ticks_now(), waits != waits_before);
  py::api.Py_DecRef(code);
  return result;
}

void note_wait_for_thread() { ++waits; }

}  // namespace lotus
