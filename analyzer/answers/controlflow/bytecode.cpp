#include "answers/controlflow/bytecode.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace lotus::analyzer::controlflow {
namespace {

struct Row {
  std::uint8_t opcode;
  Flow flow;
};

// CPython's Lib/opcode.py (3.9 to 3.12), Include/opcode_ids.h (3.13 to 3.15). What is not here is Flow::next.
// Names of rows, in their order:
// RERAISE RETURN_VALUE FOR_ITER JUMP_FORWARD JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP JUMP_ABSOLUTE
// POP_JUMP_IF_FALSE POP_JUMP_IF_TRUE JUMP_IF_NOT_EXC_MATCH SETUP_FINALLY RAISE_VARARGS SETUP_WITH
// EXTENDED_ARG SETUP_ASYNC_WITH NOP
constexpr Row k39[] = {{48, Flow::stop},           {83, Flow::stop},
                       {93, Flow::for_iter},       {110, Flow::jump_forward},
                       {111, Flow::test_absolute}, {112, Flow::test_absolute},
                       {113, Flow::jump_absolute}, {114, Flow::test_absolute},
                       {115, Flow::test_absolute}, {121, Flow::handler_test},
                       {122, Flow::setup},         {130, Flow::stop},
                       {143, Flow::setup},         {144, Flow::extended},
                       {154, Flow::setup},         {9, Flow::nop}};
// The same, but RERAISE.
constexpr Row k310[] = {{119, Flow::stop},          {83, Flow::stop},
                        {93, Flow::for_iter},       {110, Flow::jump_forward},
                        {111, Flow::test_absolute}, {112, Flow::test_absolute},
                        {113, Flow::jump_absolute}, {114, Flow::test_absolute},
                        {115, Flow::test_absolute}, {121, Flow::handler_test},
                        {122, Flow::setup},         {130, Flow::stop},
                        {143, Flow::setup},         {144, Flow::extended},
                        {154, Flow::setup},         {9, Flow::nop}};
// RETURN_VALUE FOR_ITER JUMP_FORWARD JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP
// POP_JUMP_FORWARD_IF_FALSE, …_TRUE RERAISE SEND POP_JUMP_FORWARD_IF_NOT_NONE, …_NONE RAISE_VARARGS
// JUMP_BACKWARD_NO_INTERRUPT JUMP_BACKWARD EXTENDED_ARG
// POP_JUMP_BACKWARD_IF_NOT_NONE, …_NONE, …_FALSE, …_TRUE NOP
constexpr Row k311[] = {{83, Flow::stop},           {93, Flow::for_iter},
                        {110, Flow::jump_forward},  {111, Flow::test_forward},
                        {112, Flow::test_forward},  {114, Flow::test_forward},
                        {115, Flow::test_forward},  {119, Flow::stop},
                        {123, Flow::send},          {128, Flow::test_forward},
                        {129, Flow::test_forward},  {130, Flow::stop},
                        {134, Flow::jump_backward}, {140, Flow::jump_backward},
                        {144, Flow::extended},      {173, Flow::test_backward},
                        {174, Flow::test_backward}, {175, Flow::test_backward},
                        {176, Flow::test_backward}, {9, Flow::nop}};
// RETURN_VALUE FOR_ITER JUMP_FORWARD POP_JUMP_IF_FALSE, …_TRUE RERAISE RETURN_CONST SEND
// POP_JUMP_IF_NOT_NONE, …_NONE RAISE_VARARGS JUMP_BACKWARD_NO_INTERRUPT JUMP_BACKWARD EXTENDED_ARG NOP
constexpr Row k312[] = {{83, Flow::stop},           {93, Flow::for_iter},      {110, Flow::jump_forward},
                        {114, Flow::test_forward},  {115, Flow::test_forward}, {119, Flow::stop},
                        {121, Flow::stop},          {123, Flow::send},         {128, Flow::test_forward},
                        {129, Flow::test_forward},  {130, Flow::stop},         {134, Flow::jump_backward},
                        {140, Flow::jump_backward}, {144, Flow::extended},     {9, Flow::nop}};
// RETURN_VALUE EXTENDED_ARG FOR_ITER JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT JUMP_FORWARD
// POP_JUMP_IF_FALSE, …_NONE, …_NOT_NONE, …_TRUE RAISE_VARARGS RERAISE RETURN_CONST SEND NOP
constexpr Row k313[] = {{36, Flow::stop},          {71, Flow::extended},      {72, Flow::for_iter},
                        {77, Flow::jump_backward}, {78, Flow::jump_backward}, {79, Flow::jump_forward},
                        {97, Flow::test_forward},  {98, Flow::test_forward},  {99, Flow::test_forward},
                        {100, Flow::test_forward}, {101, Flow::stop},         {102, Flow::stop},
                        {103, Flow::stop},         {104, Flow::send},         {30, Flow::nop}};
// The same, without RETURN_CONST.
constexpr Row k314[] = {{35, Flow::stop},          {69, Flow::extended},      {70, Flow::for_iter},
                        {75, Flow::jump_backward}, {76, Flow::jump_backward}, {77, Flow::jump_forward},
                        {100, Flow::test_forward}, {101, Flow::test_forward}, {102, Flow::test_forward},
                        {103, Flow::test_forward}, {104, Flow::stop},         {105, Flow::stop},
                        {106, Flow::send},         {27, Flow::nop},           {28, Flow::nop}};  // NOT_TAKEN
constexpr Row k315[] = {{33, Flow::stop},          {67, Flow::extended},      {68, Flow::for_iter},
                        {74, Flow::jump_backward}, {75, Flow::jump_backward}, {76, Flow::jump_forward},
                        {99, Flow::test_forward},  {100, Flow::test_forward}, {101, Flow::test_forward},
                        {102, Flow::test_forward}, {103, Flow::stop},         {104, Flow::stop},
                        {105, Flow::send},         {25, Flow::nop},           {26, Flow::nop}};

constexpr std::span<const Row> kRows[] = {k39, k310, k311, k312, k313, k314, k315};
static_assert(std::size(kRows) == kNewestMinor - kOldestMinor + 1);

Flow flow_of(std::span<const Row> rows, std::uint8_t opcode) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.opcode == opcode; });
  return row != rows.end() ? row->flow : Flow::next;
}

// Before indices are known: the offset in bytes that an instruction jumps to.
std::int64_t target_of(unsigned minor, Flow flow, std::uint64_t argument, std::uint32_t end) {
  const std::int64_t unit = minor >= 10 ? 2 : 1;
  const auto distance = static_cast<std::int64_t>(argument) * unit;
  switch (flow) {
    case Flow::jump_absolute:
    case Flow::test_absolute:
    case Flow::handler_test:
      return distance;
    case Flow::jump_backward:
    case Flow::test_backward:
      return end - distance;
    default:
      return end + distance;
  }
}

bool jumps(Flow flow) {
  return flow != Flow::next && flow != Flow::nop && flow != Flow::stop && flow != Flow::extended;
}

}  // namespace

std::size_t instruction_at(const std::vector<Instruction>& code, std::uint64_t offset) {
  const auto after = std::upper_bound(
      code.begin(), code.end(), offset,
      [](std::uint64_t at, const Instruction& instruction) { return at < instruction.offset; });
  if (after == code.begin() || offset >= std::prev(after)->end) return Instruction::kNone;
  return static_cast<std::size_t>(std::prev(after) - code.begin());
}

std::optional<std::vector<Instruction>> decoded(unsigned minor, std::string_view bytecode) {
  if (minor < kOldestMinor || minor > kNewestMinor || bytecode.empty() || bytecode.size() % 2 != 0)
    return std::nullopt;
  const std::span<const Row> rows = kRows[minor - kOldestMinor];
  const bool caches = minor >= 11;
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(bytecode[at]); };
  std::vector<Instruction> code;
  std::vector<std::int64_t> targets;
  std::uint64_t extension = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < bytecode.size();) {
    const Flow flow = flow_of(rows, byte(at));
    const std::uint64_t argument = extension << 8 | byte(at + 1);
    at += 2;
    if (flow == Flow::extended) {
      extension = argument & 0xffffff;
      continue;
    }
    while (caches && at < bytecode.size() && byte(at) == 0) at += 2;
    const auto end = static_cast<std::uint32_t>(at);
    code.push_back({static_cast<std::uint32_t>(begin), end, flow, Instruction::kNone});
    targets.push_back(jumps(flow) ? target_of(minor, flow, argument, end) : -1);
    extension = 0;
    begin = at;
  }
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!jumps(code[i].flow)) continue;
    if (targets[i] >= 0) code[i].target = instruction_at(code, static_cast<std::uint64_t>(targets[i]));
    if (code[i].target == Instruction::kNone) return std::nullopt;
  }
  return code;
}

}  // namespace lotus::analyzer::controlflow
