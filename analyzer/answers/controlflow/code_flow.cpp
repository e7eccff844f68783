#include "answers/controlflow/code_flow.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::size_t kMostInstructions = 20'000;  // of a code; a damaged or a generated one has more

}  // namespace

std::optional<CodeFlow> CodeFlow::of(unsigned minor, const CodeTable& table, std::uint64_t first_line) {
  auto code = decoded(minor, table.bytecode);
  if (!code || code->size() > kMostInstructions) return std::nullopt;
  CodeFlow flow;
  flow.lines_ = lines_of(minor, *code, table.lines, first_line);
  flow.code_ = std::move(*code);
  flow.link();
  flow.find_inlined(minor, table.bytecode);
  flow.find_inverted(minor, table.lines);
  flow.find_alternatives();
  flow.find_handlers(minor, table);
  flow.link_handlers();
  flow.find_operations(minor, table);
  flow.find_loops();
  flow.join_copies();
  flow.nest_loops();
  flow.find_tests();
  flow.find_joins();
  return flow;
}

void CodeFlow::link() {
  const std::size_t exit = code_.size();
  next_.assign(exit + 1, {});
  before_.assign(exit + 1, {});
  const auto edge = [&](std::size_t from, std::size_t to) {
    next_[from].push_back(to);
    before_[to].push_back(from);
  };
  for (std::size_t i = 0; i < exit; ++i) {
    const Instruction& at = code_[i];
    const bool jumps =
        at.flow == Flow::jump_forward || at.flow == Flow::jump_backward || at.flow == Flow::jump_absolute;
    if (at.flow == Flow::stop) {
      edge(i, exit);
      continue;
    }
    if (!jumps) edge(i, std::min(i + 1, exit));
    if (at.target != kNone && at.flow != Flow::setup) edge(i, at.target);  // to a handler: link_handlers()
  }
}

// CPython's compiler goes back in a code only to a loop's beginning, but for handlers of exceptions:
// from 3.11 on they stand at a code's end, and go back to what follows their `try`, too.
void CodeFlow::find_loops() {
  std::vector<bool> reached = from_start_;
  std::vector<std::uint32_t> handled(code_.size() + 1, 0);  // what only a handler reaches: the handler's line
  for (const Handler& handler : handlers_) {
    const std::vector<bool> before = reached;
    fill(handler.at, reached);
    for (std::size_t i = 0; i < code_.size(); ++i)
      if (reached[i] && !before[i]) handled[i] = handler.line;
  }
  std::map<std::size_t, std::vector<std::size_t>> ends;  // by header
  const auto comes_back = [&](std::size_t from, std::size_t to) {
    if (from_start_[from]) return true;
    if (code_[to].flow == Flow::for_iter || (lines_[to] != 0 && lines_[to] < handled[from])) return true;
    // `while True:` may begin with a `with`; the end of another one of the same line is no loop.
    if (lines_[to] == handled[from] && ends.contains(to)) return true;
    std::vector<bool> after(code_.size() + 1, false);
    fill(to, after);
    return static_cast<bool>(after[from]);
  };
  for (std::size_t i = 0; i < code_.size(); ++i)
    for (const std::size_t to : next_[i])
      if (reached[i] && to <= i && code_[to].flow != Flow::send && comes_back(i, to)) ends[to].push_back(i);
  for (const auto& [header, froms] : ends) {
    for (const std::size_t from : froms) back_.insert({from, header});
    if (inlined_.contains(header)) continue;
    Loop loop;
    loop.header = header;
    loop.inside.assign(code_.size() + 1, false);
    loop.inside[header] = true;
    std::vector<std::size_t> open = froms;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (loop.inside[at] || !reached[at]) continue;
      loop.inside[at] = true;
      open.insert(open.end(), before_[at].begin(), before_[at].end());
      // What raises to a handler in the loop is in it, too, as `raise` in a `try`.
      if (by_table_ && handler_at_[at] != kNone) {
        const std::vector<std::size_t>& raising = raised_from_[handler_at_[at]];
        open.insert(open.end(), raising.begin(), raising.end());
      }
    }
    loop.is_for = code_[header].flow == Flow::for_iter;
    find_line(loop, froms);
    loops_.push_back(std::move(loop));
  }
}

// `while` begins at its test, in its first line; where the compiler has put a copy of the test at the end, at
// its body. `while True` leaves a nop before the body.
void CodeFlow::find_line(Loop& loop, const std::vector<std::size_t>& ends) {
  const auto least = [](std::uint32_t a, std::uint32_t b) {
    return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
  };
  loop.line = lines_[loop.header];
  if (loop.is_for) {
    if (loop.header + 1 < code_.size()) loop.line = least(loop.line, lines_[loop.header + 1]);
    return;
  }
  for (const std::size_t end : ends) loop.line = least(loop.line, lines_[end]);
  if (loop.header > 0 && code_[loop.header - 1].flow == Flow::nop)
    loop.line = least(loop.line, lines_[loop.header - 1]);
}

// From 3.10 on `while` has copies of its test before its body and behind it, and begins at its body.
// `continue` goes to one of the copies, which makes two loops of it in the bytecode.
void CodeFlow::join_copies() {
  // A test's instructions, if all that it leads to but the loop's end is the body; else nothing.
  const auto test_before = [&](const Loop& test, std::size_t body) {
    std::set<std::size_t> known{test.header};
    std::vector<std::size_t> open{test.header};
    bool found = false;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      for (const std::size_t to : next_[at]) {
        found = found || to == body;
        const bool is_of_test = to < code_.size() && test.line <= lines_[to] && lines_[to] < lines_[body];
        if (is_of_test && known.insert(to).second) open.push_back(to);
      }
    }
    return found ? known : std::set<std::size_t>{};
  };
  const auto join = [&](const Loop& test, Loop& body) {
    if (test.is_for || body.is_for || test.line == 0 || test.line != body.line) return false;
    const std::size_t begins = body.body == kNone ? body.header : body.body;
    const std::set<std::size_t> copy = test_before(test, begins);
    if (copy.empty() || lines_[test.header] >= lines_[begins]) return false;
    for (std::size_t i = 0; i < code_.size(); ++i) body.inside[i] = body.inside[i] || test.inside[i];
    for (const std::size_t i : copy) body.inside[i] = true;
    if (body.body == kNone) body.body = std::exchange(body.header, test.header);
    return true;
  };
  for (std::size_t t = 0; t < loops_.size();) {
    const bool is_copy = std::any_of(loops_.begin(), loops_.end(), [&](Loop& body) {
      return &body != &loops_[t] && join(loops_[t], body);
    });
    if (is_copy)
      loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(t));
    else
      ++t;
  }
  for (Loop& loop : loops_) add_first_test(loop);
}

// A test that is false at once is in the loop, too: it was entered, and there was no iteration.
void CodeFlow::add_first_test(Loop& loop) {
  const std::size_t begins = loop.body == kNone ? loop.header : loop.body;
  const auto is_of_test = [&](std::size_t i) {
    return !loop.inside[i] && loop.line <= lines_[i] && lines_[i] < lines_[begins];
  };
  std::size_t first = begins;
  bool tests = false;
  while (first > 0 && is_of_test(first - 1)) tests = is_test(code_[--first].flow) || tests;
  if (loop.is_for || loop.line == 0 || !tests) return;
  for (std::size_t i = first; i < begins; ++i) loop.inside[i] = true;
  if (loop.body == kNone) loop.body = std::exchange(loop.header, first);
}

void CodeFlow::nest_loops() {
  const auto size = [](const Loop& loop) { return std::count(loop.inside.begin(), loop.inside.end(), true); };
  std::stable_sort(loops_.begin(), loops_.end(),
                   [&](const Loop& a, const Loop& b) { return size(a) > size(b); });  // outer ones first
  innermost_.assign(code_.size() + 1, kNone);
  for (std::size_t l = 0; l < loops_.size(); ++l) {
    loops_[l].parent = innermost_[loops_[l].header];
    for (std::size_t i = 0; i < code_.size(); ++i)
      if (loops_[l].inside[i]) innermost_[i] = l;
  }
}

void CodeFlow::find_tests() {
  for (std::size_t l = 0; l < loops_.size(); ++l) {
    Loop& loop = loops_[l];
    if (loop.is_for) {
      loop.tests.push_back(loop.header);
      continue;
    }
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (!is_test(code_[i].flow) || lines_[i] != loop.line) continue;
      const std::size_t other = std::min(i + 1, code_.size());
      if (loop.inside[i] && loop.inside[other] != loop.inside[code_[i].target]) {
        loop.tests.push_back(i);
        loop_tests_.insert(i);
      } else if (innermost_[i] == l || innermost_[i] == loop.parent) {
        loop_tests_.insert(i);  // another part of `a or b`, and the copy before the first iteration
      }
    }
    std::size_t at = loop.header;
    while (at < code_.size() && lines_[at] == loop.line && !loop_tests_.contains(at)) ++at;
    loop.tests_first = loop.body == kNone && at < code_.size() && loop_tests_.contains(at);
  }
}

// Each instruction's nearest one that all ways from it to the exit pass: Cooper, Harvey and Kennedy, "A
// Simple, Fast Dominance Algorithm" (2001), on the graph the other way round.
void CodeFlow::find_joins() {
  const std::size_t exit = code_.size();
  // Instructions that reach the exit, the exit last.
  std::vector<std::size_t> order, number(exit + 1, kNone);
  std::vector<std::pair<std::size_t, std::size_t>> open{{exit, 0}};
  std::vector<bool> known(exit + 1, false);
  known[exit] = true;
  while (!open.empty()) {
    auto& [at, edge] = open.back();
    if (edge == before_[at].size()) {
      number[at] = order.size();
      order.push_back(at);
      open.pop_back();
      continue;
    }
    const std::size_t from = before_[at][edge++];
    if (known[from]) continue;
    known[from] = true;
    open.emplace_back(from, 0);
  }
  joins_.assign(exit + 1, kNone);
  joins_[exit] = exit;
  const auto common = [&](std::size_t a, std::size_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = joins_[a];
      while (number[b] < number[a]) b = joins_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = order.size() - 1; i-- > 0;) {
      std::size_t join = kNone;
      for (const std::size_t to : next_[order[i]])
        if (joins_[to] != kNone) join = join == kNone ? to : common(join, to);
      changed = changed || joins_[order[i]] != join;
      joins_[order[i]] = join;
    }
  }
}

LoopStep CodeFlow::loop_step(std::size_t number, std::size_t from, std::size_t to) const {
  const Loop& loop = loops_[number];
  const bool was_inside = from != kEntry && loop.inside[from];
  const bool is_inside = to < code_.size() && loop.inside[to];
  LoopStep step;
  if (loop.body != kNone) {
    step.entries = !was_inside && is_inside ? 1 : 0;
    step.iterations = to == loop.body ? 1 : 0;
  } else if (!was_inside && is_inside) {
    step.entries = 1;
    step.iterations = loop.tests_first ? 0 : 1;
  } else if (was_inside) {
    const bool again = to == loop.header && is_back(from, to);
    // Left from inside of its body.
    const bool left = !is_inside && loop.tests_first &&
                      std::find(loop.tests.begin(), loop.tests.end(), from) == loop.tests.end();
    step.iterations = again || left ? 1 : 0;
  }
  return step;
}

std::size_t CodeFlow::join_of(std::size_t test) const {
  const std::size_t join = joins_[test];
  return join == kNone || join == code_.size() ? kExit : join;
}

}  // namespace lotus::analyzer::controlflow
