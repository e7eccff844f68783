// The cores of a simulated machine, shared by the threads that compute. Time in ns, from 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <queue>
#include <vector>

namespace lotus::analyzer {

// An actor either computes or sleeps. As under Linux, a thread that computes is on one core and shares it
// evenly with the other threads there: of three threads on two cores, one runs at full speed and two at half
// of it. A thread stays on its core unless another one has fewer threads; a core that loses
// threads takes one from the fullest. Sleeping costs nothing. More than 16 cores are put into groups, and the
// threads of a group share its cores freely, since with so many cores a thread nearly always finds a free
// one.
class Machine {
 public:
  using Actor = std::uint32_t;

  // `cores` > 0. With 1.5 cores one thread runs at full speed, and each of two at three quarters of it.
  explicit Machine(double cores)
      : cores_(cores), most_(std::clamp<double>(std::floor(cores), 1, kMostGroups)) {}

  double now() const { return now_; }

  // Lets `actor` compute with `threads` threads, each for `ns` of CPU time. next() returns it when all are
  // done.
  void compute(Actor actor, double ns, double threads = 1) {
    if (actor >= homes_.size()) homes_.resize(actor + 1);
    Home& home = homes_[actor];
    home.shares = static_cast<std::uint32_t>(std::clamp<double>(threads, 1, most_));
    for (std::uint32_t i = 0; i < home.shares; ++i) {
      home.group = emptiest(home.group);
      start({ns, order_++, actor, threads / home.shares}, groups_[home.group]);
    }
  }
  // Lets next() return `actor` at `time`, or at once if that is past.
  void wake_at(Actor actor, double time) { timers_.push({time > now_ ? time : now_, order_++, actor, 0}); }
  void sleep(Actor actor, double ns) { wake_at(actor, now_ + ns); }

  // Advances to the next time at which an actor is done, and returns the actor; nullopt if all are idle. Of
  // several actors at the same time, those that computed come first, then those that began earlier.
  std::optional<Actor> next() {
    while (true) {
      const auto group = std::max_element(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
        return a.first_done < b.first_done;
      });
      const double job = group == groups_.end() ? kNever : group->first_done.when;
      const double timer = timers_.empty() ? kNever : timers_.top().when;
      if (job == kNever && timer == kNever) return std::nullopt;
      now_ = std::min(job, timer);
      if (timer < job) {
        const Actor actor = timers_.top().actor;
        timers_.pop();
        return actor;
      }
      const Actor actor = finish_first(*group);
      balance(*group);
      if (--homes_[actor].shares == 0) return actor;
    }
  }

 private:
  static constexpr double kNever = 1e300;
  static constexpr double kMostGroups = 16;
  struct Entry {
    double when;  // the time (timers) or the value of Group::served (jobs) at which the actor is done
    std::uint64_t order;
    Actor actor;
    double threads;

    bool operator<(const Entry& other) const {  // reversed, since the standard heap takes the greatest first
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  struct Group {
    std::vector<Entry> jobs{};
    double threads = 0;                 // sum over all jobs
    double served = 0;                  // CPU time in ns that a thread would have got here since time 0
    double at = 0;                      // the time of the last update of `served`
    Entry first_done{kNever, 0, 0, 0};  // the job that ends first; its `when` is a time
  };
  struct Home {
    std::uint32_t shares = 0;  // unfinished parts of the actor's computation
    std::size_t group = 0;     // the group of the part that began last
  };

  static bool emptier(const Group& a, const Group& b) { return a.threads < b.threads; }

  std::size_t emptiest(std::size_t home) {
    const auto found = std::min_element(groups_.begin(), groups_.end(), emptier);
    const bool free = found != groups_.end() && found->jobs.empty();
    if (!free && static_cast<double>(groups_.size()) < most_) {
      groups_.emplace_back();
      return groups_.size() - 1;
    }
    return emptier(*found, groups_[home]) ? static_cast<std::size_t>(found - groups_.begin()) : home;
  }

  double rate(const Group& group) const { return std::min(1.0, cores_ / most_ / group.threads); }

  void serve(Group& group) const {
    if (!group.jobs.empty()) group.served += (now_ - group.at) * rate(group);
    group.at = now_;
  }

  void look_ahead(Group& group) const {
    const auto first = std::max_element(group.jobs.begin(), group.jobs.end());
    group.first_done = {kNever, 0, 0, 0};
    if (first == group.jobs.end()) return;
    group.first_done = *first;
    group.first_done.when = now_ + (first->when - group.served) / rate(group);
  }

  // `job.when`: the CPU time that the job needs.
  void start(Entry job, Group& group) const {
    serve(group);
    job.when += group.served;
    group.threads += job.threads;
    group.jobs.push_back(job);
    look_ahead(group);
  }

  // Removes a job from its group; its `when` becomes the CPU time that it still needs.
  Entry take(Group& group, std::vector<Entry>::iterator job) const {
    serve(group);
    Entry taken = *job;
    taken.when -= group.served;
    group.jobs.erase(job);
    group.threads = group.jobs.empty() ? 0 : group.threads - taken.threads;
    look_ahead(group);
    return taken;
  }

  Actor finish_first(Group& group) const {
    return take(group, std::max_element(group.jobs.begin(), group.jobs.end())).actor;
  }

  void balance(Group& group) {
    Group& fullest = *std::max_element(groups_.begin(), groups_.end(), emptier);
    if (rate(fullest) >= 1 || fullest.threads < group.threads + 2 * fullest.jobs.back().threads) return;
    start(take(fullest, std::prev(fullest.jobs.end())), group);
  }

  double cores_, most_;
  double now_ = 0;
  std::uint64_t order_ = 0;
  std::vector<Group> groups_;  // groups that were used so far
  std::vector<Home> homes_;    // by actor
  std::priority_queue<Entry> timers_;
};

}  // namespace lotus::analyzer
