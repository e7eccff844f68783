// A code object as a graph of its instructions: its loops, its tests, and ways from one instruction to
// another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/controlflow/bytecode.hpp"
#include "answers/controlflow/line_table.hpp"
#include "reading/trace/catalog.hpp"

namespace lotus::analyzer::controlflow {

inline constexpr std::size_t kNone = Instruction::kNone;

struct Loop {
  std::size_t header = 0;          // the instruction that each iteration passes first, or
  std::size_t body = kNone;        // this one, where a copy of the test stands before it
  std::vector<bool> inside;        // by instruction
  std::size_t parent = kNone;      // the innermost loop around it
  std::uint32_t line = 0;          // of its statement; 0: not known
  bool is_for = false;             // over an iterator, else `while`
  bool tests_first = true;         // else the header begins its body
  std::vector<std::size_t> tests;  // instructions by which it ends as its statement says
};

// What is counted of a loop where one instruction follows another.
struct LoopStep {
  unsigned entries = 0, iterations = 0;
};

// A way from one instruction to another, without both.
struct Way {
  bool found = false;
  bool passes_seen = false;  // no way is without an instruction that would have been seen
  std::vector<std::size_t> steps;
  // Tests on it with the side that was taken: +1 what stands under the `if`, -1 the other one, 0 it cannot be
  // told.
  std::vector<std::pair<std::size_t, int>> tests;
  // Loops and tests of which another way would count something else.
  std::vector<std::size_t> doubted_loops, doubted_tests;
  // Of a way from an instruction to itself: those that any such way passes.
  std::vector<std::size_t> passed_loops, passed_tests;
};

class CodeFlow {
 public:
  static constexpr std::size_t kEntry = ~std::size_t{1}, kExit = ~std::size_t{2};

  // Nothing: its bytecode is not known.
  static std::optional<CodeFlow> of(unsigned minor, const CodeTable& table, std::uint64_t first_line);

  const std::vector<Instruction>& code() const { return code_; }
  // What did something that was seen at an offset in bytes; kNone.
  std::size_t doer_at(std::uint64_t offset) const;
  std::uint32_t line(std::size_t instruction) const { return lines_[instruction]; }
  const std::vector<Loop>& loops() const { return loops_; }
  // The innermost one; kNone.
  std::size_t loop_at(std::size_t instruction) const { return innermost_[instruction]; }
  bool is_back(std::size_t from, std::size_t to) const { return back_.contains({from, to}); }
  // a + b and the like: each time it is one operator, or one call.
  bool is_operation(std::size_t instruction) const { return operations_[instruction]; }
  // A call of a function that, by the names in the code, does not call others that it is given.
  bool calls_one(std::size_t instruction) const;
  // A call on whose line the name of this function of PyTorch stands, and no name of one that calls others.
  bool calls_one_of(std::size_t instruction, const std::string& name) const;
  // A test that is part of a loop's statement.
  bool is_loop_test(std::size_t instruction) const { return loop_tests_.contains(instruction); }
  // Whether a test that goes on at `next` executes what stands under the source's `if`.
  bool enters(std::size_t test, std::size_t next) const {
    return (next == test + 1) != inverted_.contains(test);
  }
  // Where both sides of a test have come together again; kExit: nowhere before the function ends.
  std::size_t join_of(std::size_t test) const;

  // What is counted of a loop from one instruction, or kEntry, to the next one.
  LoopStep loop_step(std::size_t loop, std::size_t from, std::size_t to) const;

  // Instructions that are known to be seen whenever they are executed: ways that pass others of them than
  // their ends are taken last.
  void set_seen(const std::set<std::size_t>& seen);
  const std::set<std::size_t>& seen() const { return seen_; }
  // Those of them that all ways which pass the fewest of them pass between two instructions: as one of these
  // ways was executed, they are not always seen.
  std::set<std::size_t> passed_unseen(std::size_t from, std::size_t to) const;
  // From an instruction or kEntry to one or kExit. Of all ways the one that passes the fewest instructions
  // of set_seen(), then the fewest exceptions, then the fewest back edges, then the fewest instructions.
  // What is returned lives until the next call.
  const Way& way(std::size_t from, std::size_t to) const;
  // Whether a loop leads back to an instruction past none of set_seen() but itself.
  bool comes_again_unseen(std::size_t instruction) const;

 private:
  // Where an exception goes on.
  struct Handler {
    std::size_t at = 0;
    std::uint32_t line = 0;  // its first one
    bool is_with = false;    // it ends a `with`, which hardly ever stops an exception
    bool goes_on = false;    // not only with raising it again
    // Instructions that may lead to it, from and to, as far as their lines do not tell.
    std::vector<std::pair<std::size_t, std::size_t>> from;
    bool by_lines = false;  // only those before its line are
  };
  // Names of globals, attributes and methods that are loaded on a line.
  struct NamesOfLine {
    std::set<std::string> call_back, others;  // call_back: of functions that call others
    bool may_call_back = false;               // not all names are known
  };
  // Ways between two instructions that pass none that would have been seen.
  struct Unseen;

  CodeFlow() = default;
  void link();
  void find_inlined(unsigned minor, std::string_view bytecode);
  void find_inverted(unsigned minor, std::string_view table);
  void find_alternatives();
  void find_handlers(unsigned minor, const CodeTable& table);
  void link_handlers();
  void find_names(unsigned minor, const CodeTable& table);
  void find_operations(unsigned minor, const CodeTable& table);
  void fill(std::size_t from, std::vector<bool>& reached) const;
  std::vector<std::pair<std::size_t, bool>> followers(std::size_t at) const;
  Unseen unseen_between(std::size_t from, std::size_t goal, bool with_exits) const;
  void find_doubts(std::size_t from, std::size_t goal, bool with_exits, Way& way) const;
  void find_loops();
  void join_copies();
  void add_first_test(Loop& loop);
  void find_tests();
  void find_line(Loop& loop, const std::vector<std::size_t>& ends);
  void nest_loops();
  void find_joins();
  std::uint64_t cost(std::size_t from, std::size_t to, std::size_t goal) const;
  std::uint64_t price(std::size_t handler) const;
  void doubt_all(Way& way) const;
  const std::vector<std::uint64_t>& distances(std::size_t to) const;
  Way made_way(std::size_t from, std::size_t to) const;

  std::vector<Instruction> code_;
  std::vector<std::uint32_t> lines_;
  std::vector<std::vector<std::size_t>> next_, before_;  // by instruction; the node code_.size() is the exit
  std::vector<Handler> handlers_;
  std::vector<std::vector<std::size_t>> raises_;       // by instruction: numbers of handlers
  std::vector<std::vector<std::size_t>> raised_from_;  // by number of a handler
  std::vector<std::size_t> handler_at_;                // by instruction; kNone
  std::vector<bool> from_start_;                       // reached without an exception
  bool by_table_ = false;                              // which instructions lead to handlers is exact
  // By instruction: it raises what goes on in a handler of the code, or raises again what none has stopped.
  // That an exception leaves the function is supposed only where nothing else is possible.
  std::vector<bool> raises_on_;
  std::vector<Loop> loops_;
  std::vector<std::size_t> innermost_;
  std::vector<bool> operations_, calls_, precalls_;  // by instruction
  std::map<std::uint32_t, NamesOfLine> names_;
  std::set<std::pair<std::size_t, std::size_t>> back_;
  std::set<std::size_t> loop_tests_, seen_;
  std::set<std::size_t> inlined_;   // FOR_ITERs of what the compiler made of any() and the like
  std::set<std::size_t> inverted_;  // tests whose next instruction is not what stands under the `if`
  mutable std::map<std::size_t, std::vector<std::uint64_t>> distances_;
  mutable std::map<std::pair<std::size_t, std::size_t>, Way> ways_;
  mutable std::size_t kept_steps_ = 0;  // of ways_
  std::vector<std::size_t> joins_;
};

}  // namespace lotus::analyzer::controlflow
