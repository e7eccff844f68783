// What branches of a region cost: their tests, and what is executed until their sides come together again.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "answers/controlflow/construct.hpp"
#include "answers/controlflow/visits.hpp"

namespace lotus::analyzer::controlflow {

// Is told of one activation after the other what it did, in order.
class BranchSides {
 public:
  BranchSides(const Region& region, const DataFlow& flow, const Times& times);

  void begin(std::size_t activation, const CodeFlow& flow);
  void follow(std::size_t from, const Way& way, std::size_t to, const Visit* before);
  void visit(const Visit& visit);
  void end() { open_.clear(); }

  // The operator with which the visit before a test ends, if it extracts a value that the test may ask for;
  // else DataFlow::kNobody. `before`: nullptr, where none was seen.
  std::size_t waited_for(const Visit* before, std::size_t test) const;
  // After the last activation.
  void settle(Constructs& constructs) const;

 private:
  using Range = std::pair<std::size_t, std::size_t>;  // of operators
  struct Branch {
    Parts taken, not_taken;
    std::vector<Range> operators;          // on either side
    std::vector<std::size_t> extractions;  // that its tests waited for
    bool joins = false;
  };
  struct Side {
    Branch* branch;
    std::size_t test, join;
    bool taken;

    Parts& parts() const { return taken ? branch->taken : branch->not_taken; }
  };
  Range operators_in(const Event& event) const;
  std::size_t ends_in_control(const Visit& visit) const;
  void close(std::size_t from, std::size_t to);
  void add_loop_test(std::size_t test, std::size_t waited_for);
  Parts test_of(const std::vector<std::size_t>& extractions) const;
  void add_decision(const Branch& branch, Construct& construct) const;

  const Region& region_;
  const DataFlow& flow_;
  const Times& times_;
  std::vector<std::vector<Parts>> gaps_;  // by activation and number of its events before
  std::map<ConstructKey, Branch> branches_;
  std::map<ConstructKey, std::vector<std::size_t>> loop_tests_;  // what the tests of loops waited for
  std::size_t activation_ = 0;
  const CodeFlow* code_ = nullptr;
  std::vector<Side> open_;
};

}  // namespace lotus::analyzer::controlflow
