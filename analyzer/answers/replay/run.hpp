// One epoch being replayed. Actors: the training process, each worker, each worker's feeder thread, the pin
// thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "answers/replay/machine.hpp"
#include "answers/replay/outcome.hpp"
#include "answers/replay/plan.hpp"

namespace lotus::analyzer {

class Run {
 public:
  // All outlive the run.
  Run(const Plan& plan, const PlannedEpoch& epoch, const Order* order);

  ReplayOutcome run();

 private:
  using Actor = Machine::Actor;
  using Index = std::uint64_t;  // a batch, as PyTorch numbers it

  // Computing and sleeping in turn, `slices` times; of each slice, a last share with the lock of all workers.
  enum class Phase { compute, rest, lock, locked_compute, locked_rest, release };
  struct Activity {
    double cpu = 0, idle = 0, threads = 1;  // of each slice
    double held = 0;
    std::uint32_t slices = 0;
    Phase next = Phase::compute;
  };
  struct Task {
    Index batch;
    double arrives;
  };
  enum class Doing { nothing, starting, fetching, pausing };
  struct Worker {
    Doing doing = Doing::starting;
    std::deque<Task> tasks;      // its index queue
    std::deque<Index> leaving;   // its feeder thread's queue; the front one is being moved
    Index batch = 0;             // being fetched
    double began = 0;            // when
    std::uint64_t assigned = 0;  // tasks that training has not taken back
  };
  enum class Training { starting, waiting, receiving, returning, stepping, finishing };

  static constexpr Actor kTraining = 0;
  Actor worker_actor(std::size_t worker) const { return static_cast<Actor>(1 + worker); }
  Actor feeder_actor(std::size_t worker) const { return static_cast<Actor>(1 + workers_.size() + worker); }
  Actor pin_actor() const { return static_cast<Actor>(1 + 2 * workers_.size()); }

  const PlannedBatch& cost_of(Index batch) const;
  void begin(Actor actor, const Activity& activity);
  void go_on(Actor actor);
  bool compute(Actor actor, double ns);
  bool sleep(Actor actor, double ns);
  bool lock(Actor actor);
  void release();
  void done(Actor actor);
  double fetch(Actor actor, Index batch, double slowness);

  // The training process: __next__, then a step, and again.
  void training_done();
  void call_next();
  void next_data();
  void receive();
  void received();
  void process_data(Index batch);
  void return_batch();
  void end_step();
  void try_put_index();

  // The others.
  void look_for_work(std::size_t worker);
  void worker_done(std::size_t worker);
  void move(std::size_t worker);
  void pickled(std::size_t worker);
  void moved(std::size_t worker);
  void write_next();
  void read_all(Index batch);
  void left(std::size_t worker);
  void arrived(Index batch);
  void pin_next();
  void pinned();
  void deliver(Index batch);

  const PlannedEpoch& epoch_;
  const Order* const order_;
  const Settings& settings_;
  const Overheads& overheads_;
  const std::vector<double>& slowness_;
  const std::uint64_t wanted_;  // batches
  Machine machine_;
  std::vector<Worker> workers_;
  std::vector<Activity> activities_;

  Training training_ = Training::starting;
  Index sent_ = 0, expected_ = 0;
  std::uint64_t got_ = 0;                   // batches that training has
  std::size_t cycle_ = 0;                   // the worker whose turn it is
  std::map<Index, std::size_t> worker_of_;  // tasks that training has not taken back
  std::set<Index> early_;                   // received before their turn
  std::deque<Index> results_, to_pin_;
  std::deque<std::size_t> to_write_;              // workers that wait for the pipe
  std::optional<std::size_t> writer_;             // the worker that has the pipe
  std::optional<Actor> locker_;                   // who has the lock of all workers
  std::deque<std::pair<Actor, double>> to_lock_;  // who waits for it, since when
  Index current_ = 0;
  bool pinning_ = false, over_ = false;
  double loop_began_ = 0, next_began_ = 0, step_began_ = 0;
  double fetches_ = 0, fetching_ = 0, locking_ = 0;
  double all_began_ = 0;  // the first fetches of all workers
  double settled_ = 0, settled_fetching_ = 0;
  ReplayOutcome outcome_;
};

}  // namespace lotus::analyzer
