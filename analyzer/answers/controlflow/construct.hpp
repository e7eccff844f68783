// Loops, branches and recursions of a region with what they cost.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "answers/controlflow/codes.hpp"
#include "answers/controlflow/times.hpp"

namespace lotus::analyzer::controlflow {

enum class ConstructKind : std::uint8_t { loop, branch, recursion };

struct ConstructKey {
  ConstructKind kind = ConstructKind::loop;
  std::uint64_t code = 0;
  std::size_t at = 0;  // loop: its number; branch: its test; recursion: 0

  bool operator<(const ConstructKey& other) const {
    return std::tie(kind, code, at) < std::tie(other.kind, other.code, other.at);
  }
};

using Work = std::pair<std::uint64_t, std::uint64_t>;  // hook and place of an operator

// Sums over all regions that were added.
struct Construct {
  // Loops and recursions: all time while one of them was open, once; and that of it in which no other loop or
  // recursion inside of it was open: with what is in none, these are the region's parts.
  Parts within, own;

  std::uint64_t entries = 0, iterations = 0;  // loops
  std::uint64_t operators = 0;                // within
  bool lower_bound = false;                   // more entries, iterations, visits may have been than were seen
  bool exact = true;  // else there may have been more of them or fewer: what was seen fits several ways
  bool data_dependent = false;  // a test waits for what a tensor holds
  bool unseen = false;          // in some entries nothing of it was seen but that it was passed

  std::uint64_t calls = 0, depth = 0;  // recursions; depth: the most
  std::vector<Parts> by_depth;         // time in which the innermost call of it had this depth, from 1
  std::vector<std::uint64_t> calls_by_depth;

  // Branches, and loops whose test waits for data.
  Parts test;  // operators that only serve the test, and Python between them
  // The innermost loops and recursions in which its tests were: whose `own` has `test`.
  std::set<ConstructKey> tested_in;

  // Tests that wait for data: those of which it is known that they might be before the loop around them, as
  // they read nothing that it computes, and others.
  std::uint64_t early_tests = 0, late_tests = 0;

  // Branches. `taken`: the test's statement was executed, as in the side that follows it in the code.
  std::uint64_t taken = 0, not_taken = 0, unknown = 0;
  Parts taken_time, not_taken_time;  // until both sides have come together
  bool joins = false;                // they do before the function ends, or the iteration
  // All that leads to the test and to nothing on its sides: `test`, and what the region keeps of it. What
  // leads to a side in any visit is none of it, as where the other ones skip a step that has begun.
  std::map<Work, Parts> leads;
  std::set<Work> needed;

  Parts decides() const;

  std::uint64_t visits() const { return taken + not_taken + unknown; }
  // Which side was taken is known of each visit.
  bool is_known() const { return exact && unknown == 0; }
  void add(const Construct& other);
};

struct Constructs {
  std::map<ConstructKey, Construct> all;
  std::set<ConstructKey> doubted;  // branches; of those in `all`, counts may be others
  Parts outside;                   // of loops and recursions
};

}  // namespace lotus::analyzer::controlflow
