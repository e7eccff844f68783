#include "answers/counters/formula.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace lotus::analyzer {

// By recursive descent: a sum of products of factors.
class Formula::Parser {
 public:
  Parser(Formula& formula, std::string_view text) : formula_(formula), rest_(text) {
    next();
    sum();
    if (!token_.empty()) fail();
  }

 private:
  using What = Step::What;

  [[noreturn]] void fail() const { throw std::invalid_argument("no formula at: " + std::string(token_)); }

  void next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    token_ = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(token_.size());
  }

  void sum() {
    product();
    while (token_ == "+" || token_ == "-") {
      const What what = token_ == "+" ? What::add : What::subtract;
      next();
      product();
      formula_.steps_.push_back({what});
    }
  }

  void product() {
    factor();
    while (token_ == "*" || token_ == "/") {
      const What what = token_ == "*" ? What::multiply : What::divide;
      next();
      factor();
      formula_.steps_.push_back({what});
    }
  }

  void factor() {
    if (token_ == "(") {
      next();
      sum();
      if (token_ != ")") fail();
    } else if (token_.empty() || std::ispunct(static_cast<unsigned char>(token_[0])) != 0) {
      fail();
    } else if (std::isdigit(static_cast<unsigned char>(token_[0])) != 0) {
      formula_.steps_.push_back({What::number, std::strtod(std::string(token_).c_str(), nullptr)});
    } else {
      operand();
    }
    next();
  }

  void operand() {
    auto& operands = formula_.operands_;
    auto found = std::find(operands.begin(), operands.end(), token_);
    if (found == operands.end()) found = operands.emplace(found, token_);
    formula_.steps_.push_back({What::operand, 0, static_cast<std::size_t>(found - operands.begin())});
  }

  Formula& formula_;
  std::string_view rest_, token_;
};

Formula::Formula(std::string_view text) { Parser(*this, text); }

double Formula::value(const std::vector<double>& values) const {
  std::vector<double> stack;
  for (const Step& step : steps_) {
    if (step.what == Step::What::number || step.what == Step::What::operand) {
      stack.push_back(step.what == Step::What::number ? step.number : values[step.operand]);
      continue;
    }
    const double right = stack.back();
    stack.pop_back();
    double& left = stack.back();
    switch (step.what) {
      case Step::What::add:
        left += right;
        break;
      case Step::What::subtract:
        left -= right;
        break;
      case Step::What::multiply:
        left *= right;
        break;
      default:
        left /= right;
    }
  }
  return stack.back();
}

std::optional<Bounds> Formula::bounds(const std::vector<Bounds>& intervals) const {
  std::optional<Bounds> bounds;
  std::vector<double> corner(intervals.size());
  for (std::size_t which = 0; which < std::size_t{1} << intervals.size(); ++which) {
    for (std::size_t i = 0; i < intervals.size(); ++i)
      corner[i] = (which >> i & 1) != 0 ? intervals[i].high : intervals[i].low;
    const double at = value(corner);
    if (!std::isfinite(at)) return std::nullopt;
    if (!bounds) bounds = {at, at};
    bounds = {std::min(bounds->low, at), std::max(bounds->high, at)};
  }
  return bounds;
}

}  // namespace lotus::analyzer
