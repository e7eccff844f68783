// Regions written by hand: records of a trace, and what control-flow says of them.
#pragma once

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "answers/controlflow/regions.hpp"
#include "answers/controlflow/views.hpp"
#include "made_trace.hpp"

namespace lotus::analyzer::test {

inline constexpr std::uint64_t kAdd = 1, kSelect = 2, kItem = 3, kTruth = 4;  // hooks
inline constexpr std::uint64_t kForward = 1, kHelper = 2;                     // codes

// Instructions of 3.11, of two bytes each; the table of lines has one entry for each.
struct Assembly {
  std::string bytecode, lines, exceptions;
  std::int64_t last = 10;  // the code's first line

  Assembly& add(unsigned opcode, unsigned argument, std::int64_t line) {
    bytecode += static_cast<char>(opcode);
    bytecode += static_cast<char>(argument);
    constexpr unsigned kNoColumns = 13;
    lines += static_cast<char>(0x80 | kNoColumns << 3);
    const std::int64_t more = line - last;
    lines += static_cast<char>(more < 0 ? -more << 1 | 1 : more << 1);
    last = line;
    return *this;
  }
};
inline constexpr unsigned kNop = 9, kForIter = 93, kReturn = 83, kJumpBackward = 140, kJumpIfFalse = 114,
                          kCall = 171;

// for …:                (line 11: offset 2, FOR_ITER to 16)
//     a call            (line 12: offset 4)
//     if …: a call      (line 13: test at 6 to 12; line 14: call at 8; 10 is a nop)
//     a call            (line 15: offset 12)
// return                (line 16: offset 16)
inline Assembly looped() {
  Assembly code;
  code.add(kNop, 0, 10).add(kForIter, 6, 11).add(kCall, 0, 12).add(kJumpIfFalse, 2, 13).add(kCall, 0, 14);
  code.add(kNop, 0, 14).add(kCall, 0, 15).add(kJumpBackward, 7, 11).add(kReturn, 0, 16);
  return code;
}

class RegionTrace : public MadeTrace {
 public:
  RegionTrace() : thread(*this, 1, 1) {
    hook(kAdd, "aten::add");
    hook(kSelect, "aten::select");
    hook(kItem, "aten::item");
    hook(kTruth, "aten::is_nonzero");
    code(kForward, "Model.forward", looped());
    Assembly helper;
    code(kHelper, "helper", helper.add(kCall, 0, 20).add(kReturn, 0, 21));
  }

  void hook(std::uint64_t id, const char* name) {
    define<Kind::hook>(1, at(0), id, std::string(name), std::string("libtorch_cpu.so"));
  }
  void code(std::uint64_t id, const char* name, const Assembly& made) {
    function(id, name, "/home/me/model.py");
    define<Kind::code_table>(1, at(0), id, made.bytecode, made.lines, std::string(), std::uint64_t{1},
                             made.exceptions);
  }
  // Its instructions are not known.
  void function(std::uint64_t id, const char* name, const char* file, std::uint64_t line = 10) {
    define<Kind::python_code>(1, at(0), id, std::string(name), std::string(file), line);
  }
  // A place is named by its code and offset.
  std::uint64_t place(std::uint64_t code, std::uint64_t offset) {
    const std::uint64_t id = 1000 * code + offset;
    if (places_.insert(id).second)
      define<Kind::place>(1, at(0), id, std::uint64_t{0}, code, 10 + offset / 2, offset);
    return id;
  }

  void begin(double ms, std::uint64_t number = 0) {
    thread.record<Kind::region>(at(ms), number, std::uint64_t{0});
  }
  void end(double ms, std::uint64_t number = 0, std::uint64_t incomplete = 0, double cost = 0,
           double cpu_ms = 0) {
    thread.record<Kind::region_end>(at(ms), number, incomplete, static_cast<std::uint64_t>(cost * 1e6),
                                    static_cast<std::uint64_t>(cpu_ms * 1e6));
  }
  void call(double ms, std::uint64_t code, std::uint64_t from = 0, std::uint64_t resumed = 0) {
    thread.record<Kind::python_call>(at(ms), code, from, resumed);
  }
  void returns(double ms) { thread.record<Kind::python_return>(at(ms)); }
  void operand(double ms, std::uint64_t data, bool result, std::uint64_t offset = 0) {
    thread.record<Kind::operand>(at(ms), std::uint64_t{result ? 1u : 0u}, data, std::uint64_t{64},
                                 std::uint64_t{0}, offset);
  }
  // Ended at `ms`.
  void op(double ms, double took, std::uint64_t hook, std::uint64_t place, std::uint64_t nested = 0) {
    thread.record<Kind::torch_op>(at(ms), hook, place, at(took) - at(0), std::uint64_t{0}, nested,
                                  std::uint64_t{0});
  }
  void allocated(double ms, std::uint64_t address) {
    thread.record<Kind::allocated>(at(ms), address, std::uint64_t{64}, std::uint64_t{0});
  }
  void released(double ms, std::uint64_t address) {
    thread.record<Kind::released>(at(ms), address, std::uint64_t{64});
  }

  ThreadWriter thread;

 private:
  std::set<std::uint64_t> places_;
};

struct Told {
  TemporaryFile file;
  Trace trace;
  std::vector<controlflow::Region> regions;
  std::vector<controlflow::RegionAnswer> answers;

  explicit Told(RegionTrace& made)
      : file((made.thread.flush(), made.close(), made.bytes)), trace(file.path()) {
    controlflow::RegionCollector collector(trace, regions);
    show(trace, collector);
    collector.finish();
    answers = controlflow::answers_of(regions);
  }
  // The one of this kind and line; nullptr.
  const controlflow::Construct* find(controlflow::ConstructKind kind, std::uint64_t line) const {
    for (const controlflow::ConstructAnswer& construct : answers.at(0).constructs)
      if (construct.kind == kind && construct.source.line == line) return &construct.sums;
    return nullptr;
  }
  // Of the first region; that there is none fails the test.
  const controlflow::Construct& loop(std::uint64_t line) const { return at(ConstructKind::loop, line); }
  const controlflow::Construct& branch(std::uint64_t line) const { return at(ConstructKind::branch, line); }
  const controlflow::Construct& recursion(std::uint64_t line) const {
    return at(ConstructKind::recursion, line);
  }

 private:
  using ConstructKind = controlflow::ConstructKind;

  const controlflow::Construct& at(ConstructKind kind, std::uint64_t line) const {
    const controlflow::Construct* found = find(kind, line);
    REQUIRE_MESSAGE(found != nullptr, "nothing of this kind stands at line ", line);
    return *found;
  }
};

inline constexpr double kMs = 1e6;  // ns

}  // namespace lotus::analyzer::test
