// Which of many steps, or of many calls of a region, are recorded.
#pragma once

#include <cstdint>

#include "system/clock.hpp"

namespace lotus {

// None; a few at the beginning, then so few that it costs less than 0.3 % of the time; all but a fourth of
// those from the ninth on, which is only timed: beside their neighbours they tell what recording takes on
// this machine, in this program; all. Which fourth has no period: what a program does by turns would else be
// recorded of some kinds of calls, and timed of others.
enum class RecordedSteps : std::uint8_t { none, automatic, most, all };

class Turns {
 public:
  // Whether the next one is recorded.
  bool records(RecordedSteps which) {
    const std::uint64_t number = next_++;
    if (which == RecordedSteps::most && number >= kAlone && is_timed(number)) {
      timed_ = 1;
      return false;
    }
    if (which != RecordedSteps::automatic) return which != RecordedSteps::none;
    const std::uint64_t now = ticks_now();
    if (number == 0) begin_ = now;
    if (left_ == 0 && number > kFirst && (now - begin_) / kMostOfTime > cost_) left_ = kLater;
    if (left_ == 0) return false;
    ++burst_;
    if (--left_ == 0) timed_ = burst_, burst_ = 0;
    return true;
  }
  // Of one that is not: whether it follows those that were, and tells what they take without.
  bool times() {
    if (timed_ == 0) return false;
    --timed_;
    return true;
  }
  void spent(std::uint64_t ticks) { cost_ += ticks; }
  std::uint64_t next() const { return next_; }

 private:
  static constexpr std::uint64_t kFirst = 4;  // recorded in any case
  static constexpr std::uint64_t kLater = 2;  // together, later: what outlives a step is told by the next one
  static constexpr std::uint64_t kAlone = 8, kTimedOf = 4;
  // By multiples of the golden ratio, modulo 1: as even as can be, also of each so many-th call.
  static bool is_timed(std::uint64_t number) { return number * 0x9e3779b97f4a7c15u < UINT64_MAX / kTimedOf; }
  static constexpr std::uint64_t kMostOfTime = 333;  // 0.3 %

  std::uint64_t next_ = 0;
  std::uint64_t left_ = kFirst;  // to be recorded now, one after the other
  std::uint64_t burst_ = 0;      // recorded one after the other
  std::uint64_t timed_ = 0;      // to be timed
  std::uint64_t begin_ = 0;      // ticks, of the first one
  std::uint64_t cost_ = 0;       // ticks, of all that were recorded
};

}  // namespace lotus
