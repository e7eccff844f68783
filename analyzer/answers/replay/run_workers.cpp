// The workers, their feeder threads and the pin thread.
#include "answers/replay/run.hpp"

namespace lotus::analyzer {

void Run::look_for_work(std::size_t worker) {
  Worker& self = workers_[worker];
  if (self.tasks.empty()) {
    self.doing = Doing::nothing;
    return;
  }
  const Task task = self.tasks.front();
  if (task.arrives > machine_.now()) {
    self.doing = Doing::pausing;
    return machine_.wake_at(worker_actor(worker), task.arrives);
  }
  self.tasks.pop_front();
  self.doing = Doing::fetching;
  self.batch = task.batch;
  self.began = fetch(worker_actor(worker), task.batch, slowness_[worker]);
}

void Run::worker_done(std::size_t worker) {
  Worker& self = workers_[worker];
  if (self.doing != Doing::fetching) return look_for_work(worker);
  fetches_ += 1;
  fetching_ += machine_.now() - self.began;
  self.leaving.push_back(self.batch);
  if (self.leaving.size() == 1) move(worker);
  self.doing = Doing::pausing;
  machine_.sleep(worker_actor(worker), overheads_.between);
}

// The feeder thread pickles a batch and writes it to the pipe.
void Run::move(std::size_t worker) {
  const PlannedBatch& cost = cost_of(workers_[worker].leaving.front());
  begin(feeder_actor(worker), cost.transfer_cpu, cost.transfer_idle);
}

// What does not go through shared memory is written to the pipe, by one worker at a time.
void Run::moved(std::size_t worker) {
  Worker& self = workers_[worker];
  auto& leaving = self.leaving;
  const Index batch = leaving.front();
  if (self.writing) {
    self.writing = pipe_taken_ = false;
    write_next();
  } else if (cost_of(batch).pipe > 0) {
    to_write_.push_back(worker);
    return write_next();
  }
  leaving.pop_front();
  if (!leaving.empty()) move(worker);
  if (!settings_.pin_memory) return deliver(batch);
  to_pin_.push_back(batch);
  if (!pinning_) pin_next();
}

void Run::write_next() {
  if (pipe_taken_ || to_write_.empty()) return;
  const std::size_t worker = to_write_.front();
  to_write_.pop_front();
  workers_[worker].writing = pipe_taken_ = true;
  begin(feeder_actor(worker), 0, cost_of(workers_[worker].leaving.front()).pipe);
}

// The pin thread takes one batch after the other out of the result queue.
void Run::pin_next() {
  pinning_ = !to_pin_.empty();
  if (!pinning_) return;
  const PlannedBatch& cost = cost_of(to_pin_.front());
  begin(pin_actor(), 0, cost.receive + cost.pin);
}

void Run::pinned() {
  const Index batch = to_pin_.front();
  to_pin_.pop_front();
  pin_next();
  deliver(batch);
}

void Run::deliver(Index batch) {
  results_.push_back(batch);
  if (training_ == Training::waiting) receive();
}

}  // namespace lotus::analyzer
