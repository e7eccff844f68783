// Formulas over counters: "misses / ( 8 * cycles )". Numbers, names, + - * / and parentheses, with spaces
// between them: names of counters have dots and dashes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/stats/interval.hpp"

namespace lotus::analyzer {

class Formula {
 public:
  // Throws std::invalid_argument where `text` is none.
  explicit Formula(std::string_view text);

  // Each counter once.
  const std::vector<std::string>& operands() const { return operands_; }

  // `values` are those of the operands, in their order. What is divided by 0 is infinite, or no number.
  double value(const std::vector<double>& values) const;

  // The least and the largest value where each operand is anywhere in its interval; none: it has no end, or a
  // divisor may be 0. Formulas are monotone in each operand, so both stand at corners.
  std::optional<Bounds> bounds(const std::vector<Bounds>& intervals) const;

 private:
  class Parser;
  // In postfix order: an operator's two sides come before it.
  struct Step {
    enum class What { number, operand, add, subtract, multiply, divide } what;
    double number = 0;
    std::size_t operand = 0;
  };
  std::vector<std::string> operands_;
  std::vector<Step> steps_;
};

}  // namespace lotus::analyzer
