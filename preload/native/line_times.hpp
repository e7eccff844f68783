// How long a function takes that is called for each line of an image, without reading the clock at each line:
// two readings take 16 ns, most of what a hook costs a line.
//
// Lines are timed in groups of sixteen, as many as are decoded in one go, and those that are left at the end.
// What the caller does between two calls is timed where one group ends and the next begins, and taken off for
// the gaps inside a group: it is a loop that does the same for each line, and a small part of the whole.
// Where it is not small, or not known yet, each call is timed by itself.
#pragma once

#include <cstdint>

namespace lotus {

class LineTimes {
 public:
  // Before a call for at most `lines` lines. `left()`: the image's lines that are still to come, these too.
  template <class Left, class Clock>
  void before(std::uint32_t lines, Left&& left, Clock&& now) {
    if (to_come_ > 0) [[likely]]
      return;
    start_ = now();
    if (end_ != 0) {
      const std::uint64_t gap = start_ - end_;
      between_ += gap;
      ++gaps_;
      if (gap > longest_gap_) longest_gap_ = gap;
    }
    size_ = to_come_ = calls_ >= kGroup && steady() && lines > 0 ? calls_of(left() / lines) : 1;
  }

  // After it. `read`: it gave lines, and did not wait for more bytes. What to add to the time of all lines,
  // in the clock's unit: 0 inside a group.
  template <class Clock>
  std::uint64_t after(bool read, Clock&& now) {
    if (goes_on(read) || to_come_ == 0) return 0;  // 0: another image was read inside of the call
    --to_come_;
    const std::uint64_t end = now();
    const std::uint32_t calls = size_ - to_come_;
    const std::uint64_t passed = end - start_;
    const std::uint64_t between = calls > 1 ? (calls - 1) * between_ / gaps_ : 0;
    const std::uint64_t took = passed > between ? passed - between : 0;
    to_come_ = 0;
    end_ = read ? end : 0;
    spent_ += took;
    calls_ += calls;
    return took;
  }

  // The next call is neither the first nor the last of a group: it needs neither before() nor after() as long
  // as it goes on.
  bool inside() const { return to_come_ > 1; }
  bool goes_on(bool read) {
    if (!read || to_come_ <= 1) return false;
    --to_come_;
    return true;
  }

 private:
  // Between calls the caller does little, and nothing else came there: the mean says what the gaps in a group
  // are, some of which meet a page that is new.
  bool steady() const {
    const std::uint64_t call = spent_ / calls_;
    return gaps_ > 0 && between_ / gaps_ <= call / kGapShare && longest_gap_ <= kLongestGap * call;
  }

  // A group of no more calls than are sure to come: it is timed when it is complete.
  static std::uint32_t calls_of(std::uint32_t sure) { return sure > kGroup ? kGroup : sure > 1 ? sure : 1; }

  static constexpr std::uint32_t kGroup = 16;    // calls; as many are timed alone first, to see what gaps are
  static constexpr std::uint64_t kGapShare = 8;  // of a call's time, a gap is at most one in so many …
  static constexpr std::uint64_t kLongestGap = 2;  // … and each gap at most so many times as much

  std::uint32_t to_come_ = 0;  // calls of the open group
  std::uint32_t size_ = 0;     // of the group
  std::uint64_t start_ = 0;    // of the group
  std::uint64_t end_ = 0;      // of the call before; 0: what follows it is no gap
  std::uint64_t spent_ = 0;    // in `calls_` calls
  std::uint64_t between_ = 0;  // in `gaps_` gaps that were timed
  std::uint64_t longest_gap_ = 0;
  std::uint32_t calls_ = 0, gaps_ = 0;
};

}  // namespace lotus
