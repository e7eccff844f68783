// The cores of a machine, shared evenly by what computes. Time in ns, from 0.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace lotus::analyzer {

// Actors compute or sleep, one thing at a time each. What computes gets a core of its own while there are
// enough; else all computing threads go equally slower. What sleeps costs nothing.
class Machine {
 public:
  using Actor = std::uint32_t;

  // `cores` > 0.
  explicit Machine(double cores) : cores_(cores) {}

  double now() const { return now_; }

  // `actor` computes: `threads` threads, `ns` of CPU time each. next() names it when it is done.
  void compute(Actor actor, double ns, double threads = 1) {
    jobs_.push({served_ + ns, order_++, actor, threads});
    threads_ += threads;
  }
  // next() names `actor` at `time`, or at once if that is past.
  void wake_at(Actor actor, double time) { timers_.push({time > now_ ? time : now_, order_++, actor, 0}); }
  void sleep(Actor actor, double ns) { wake_at(actor, now_ + ns); }

  // Goes on to the next moment when an actor is done, which it names; none: all are idle. Of several at the
  // same time, the one that began first.
  std::optional<Actor> next() {
    const double rate = threads_ > cores_ ? cores_ / threads_ : 1;
    const double job = jobs_.empty() ? kNever : now_ + (jobs_.top().when - served_) / rate;
    const double timer = timers_.empty() ? kNever : timers_.top().when;
    if (job == kNever && timer == kNever) return std::nullopt;
    const double until = job <= timer ? job : timer;
    served_ += (until - now_) * rate;
    now_ = until;
    return job <= timer ? take(jobs_) : take(timers_);
  }

 private:
  static constexpr double kNever = 1e300;
  struct Entry {
    double when;  // timers: the time; jobs: what each thread has been served by then
    std::uint64_t order;
    Actor actor;
    double threads;

    bool operator<(const Entry& other) const {  // for the queue: the least comes first
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  using Queue = std::priority_queue<Entry>;

  Actor take(Queue& queue) {
    const Entry entry = queue.top();
    queue.pop();
    threads_ -= entry.threads;
    return entry.actor;
  }

  double cores_;
  double now_ = 0;
  double served_ = 0;   // ns that a thread that computed all the time would have got
  double threads_ = 0;  // that compute
  std::uint64_t order_ = 0;
  Queue jobs_, timers_;
};

}  // namespace lotus::analyzer
