// Where exceptions go on in a code. Up to 3.10 instructions tell it, from 3.11 on a table does; where that is
// not recorded, more instructions are taken to lead to a handler than do.
#include <algorithm>
#include <iterator>

#include "answers/controlflow/code_flow.hpp"
#include "answers/controlflow/exception_table.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::size_t kMostEdges = 4'000'000;  // only crafted codes have as many

// CPython's Lib/opcode.py (3.9 to 3.12), Include/opcode_ids.h (3.13 to 3.15); 0: there is none.
struct Opcodes {
  std::uint8_t push_exc_info, check_exc_match, check_eg_match, with_except_start, to_bool, reraise, raise;
  std::uint8_t enter, enter_async;  // BEFORE_WITH, BEFORE_ASYNC_WITH; later LOAD_SPECIAL
};
constexpr Opcodes kOpcodes[] = {{0, 0, 0, 49, 0, 48, 130, 0, 0},       {0, 0, 0, 49, 0, 119, 130, 0, 0},
                                {35, 36, 37, 49, 0, 119, 130, 53, 52}, {35, 36, 37, 49, 0, 119, 130, 53, 52},
                                {33, 7, 6, 44, 40, 102, 101, 2, 1},    {32, 6, 5, 43, 39, 105, 104, 95, 95},
                                {30, 6, 5, 41, 37, 104, 103, 94, 94}};
static_assert(std::size(kOpcodes) == kNewestMinor - kOldestMinor + 1);

}  // namespace

void CodeFlow::fill(std::size_t from, std::vector<bool>& reached) const {
  if (reached[from]) return;
  std::vector<std::size_t> open{from};
  reached[from] = true;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (const std::size_t to : next_[at])
      if (!reached[to]) {
        reached[to] = true;
        open.push_back(to);
      }
  }
}

void CodeFlow::find_handlers(unsigned minor, const CodeTable& table) {
  const std::string_view bytecode = table.bytecode;
  const Opcodes& opcodes = kOpcodes[minor - kOldestMinor];
  const std::size_t exit = code_.size();
  const auto opcode = [&](std::size_t i) {
    return i < exit ? static_cast<std::uint8_t>(bytecode[code_[i].offset]) : std::uint8_t{0};
  };
  const auto is = [&](std::size_t i, std::uint8_t wanted) { return wanted != 0 && opcode(i) == wanted; };
  // Tests of a handler are none of the program's branches.
  for (std::size_t i = 1; i < exit; ++i)
    if (is_test(code_[i].flow) &&
        (is(i - 1, opcodes.check_exc_match) || is(i - 1, opcodes.check_eg_match) ||
         is(i - 1, opcodes.with_except_start) ||
         (i > 1 && is(i - 1, opcodes.to_bool) && is(i - 2, opcodes.with_except_start))))
      code_[i].flow = Flow::handler_test;

  from_start_.assign(exit + 1, false);
  fill(0, from_start_);
  std::vector<bool> reached = from_start_;
  handler_at_.assign(exit + 1, kNone);
  // The first instruction behind the call of __enter__: no `with` ends what fails before. From 3.14 on there
  // are two swaps and a second LOAD_SPECIAL up to that call.
  const std::size_t up_to_body = minor >= 14 ? 5 : 1;
  const auto entered = [&](std::uint32_t line, std::size_t end) {
    for (std::size_t i = 0; i < end; ++i)
      if (lines_[i] == line && (is(i, opcodes.enter) || is(i, opcodes.enter_async))) return i + up_to_body;
    return std::size_t{0};
  };
  const auto add = [&](std::size_t at, std::size_t first, std::size_t end, bool by_lines) {
    Handler handler;
    handler.at = at;
    for (std::size_t i = at; i < exit && handler.line == 0; ++i) handler.line = lines_[i];
    handler.is_with = is(at, opcodes.with_except_start) || is(at + 1, opcodes.with_except_start);
    handler.by_lines = by_lines && !handler.is_with;
    if (by_lines && handler.is_with) first = entered(handler.line, end);
    handler.from.emplace_back(first, end);
    std::vector<bool> after(exit + 1, false);
    fill(at, after);
    for (std::size_t i = 0; i < exit && !handler.goes_on; ++i)
      handler.goes_on = after[i] && (from_start_[i] || (code_[i].flow == Flow::stop &&
                                                        !is(i, opcodes.reraise) && !is(i, opcodes.raise)));
    if (handler_at_[at] == kNone) handler_at_[at] = handlers_.size();
    handlers_.push_back(std::move(handler));
    fill(at, reached);
  };
  const auto guarded = minor >= 11 ? exceptions_of(code_, table.exceptions) : std::nullopt;
  raises_on_.assign(exit + 1, false);
  for (std::size_t i = 0; i < exit; ++i)
    raises_on_[i] = is(i, opcodes.reraise) ||
                    (is(i, opcodes.raise) && guarded &&
                     std::any_of(guarded->begin(), guarded->end(),
                                 [&](const Guarded& one) { return one.first <= i && i < one.end; }));
  if (minor < 11) {
    for (std::size_t i = 0; i < exit; ++i)
      if (code_[i].flow == Flow::setup) add(code_[i].target, i, std::max(i + 1, code_[i].target), false);
  } else if (guarded && !guarded->empty()) {
    by_table_ = true;
    std::map<std::pair<bool, std::size_t>, std::vector<std::pair<std::size_t, std::size_t>>> ranges;
    for (const Guarded& one : *guarded)  // what cleans up stands behind what it may be reached from
      ranges[{!is(one.handler, opcodes.push_exc_info), one.handler}].emplace_back(one.first, one.end);
    for (auto& [at, from] : ranges) {
      add(at.second, 0, 0, false);
      handlers_.back().from = std::move(from);
    }
  } else {
    for (std::size_t i = 0; i < exit; ++i)
      if (is(i, opcodes.push_exc_info)) add(i, 0, i, true);
    // What nothing else leads to: the end of `async for`, what cleans up.
    for (std::size_t i = 0; i < exit; ++i)
      if (!reached[i] && code_[i].flow != Flow::nop) add(i, 0, i, false);
  }
}

void CodeFlow::link_handlers() {
  raises_.assign(code_.size() + 1, {});
  raised_from_.assign(handlers_.size(), {});
  std::size_t edges = 0;
  for (std::size_t h = 0; h < handlers_.size(); ++h) {
    const Handler& handler = handlers_[h];
    for (const auto& [first, end] : handler.from)
      for (std::size_t i = first; i < end && edges < kMostEdges; ++i) {
        if (handler.by_lines && lines_[i] != 0 && handler.line != 0 && lines_[i] >= handler.line) continue;
        if (code_[i].flow == Flow::nop) continue;
        raises_[i].push_back(h);
        raised_from_[h].push_back(i);
        ++edges;
      }
  }
}

}  // namespace lotus::analyzer::controlflow
