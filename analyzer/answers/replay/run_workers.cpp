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
  if (self.began >= all_began_) {
    settled_ += 1;
    settled_fetching_ += machine_.now() - self.began;
  }
  self.leaving.push_back(self.batch);
  if (self.leaving.size() == 1) move(worker);
  self.doing = Doing::pausing;
  machine_.sleep(worker_actor(worker), cost_of(self.batch).pause);
}

// The feeder thread pickles a batch and writes it to the pipe.
void Run::move(std::size_t worker) {
  const PlannedBatch& cost = cost_of(workers_[worker].leaving.front());
  begin(feeder_actor(worker), {.cpu = cost.transfer_cpu, .idle = cost.transfer_idle, .slices = 1});
}

void Run::pickled(std::size_t worker) {
  if (cost_of(workers_[worker].leaving.front()).pipe <= 0) return moved(worker);
  to_write_.push_back(worker);
  write_next();
}

// What does not go through shared memory is written to the pipe by one worker at a time. The receiver can
// begin to read at once; the worker is done when all is read.
void Run::write_next() {
  if (writer_ || to_write_.empty()) return;
  writer_ = to_write_.front();
  to_write_.pop_front();
  arrived(workers_[*writer_].leaving.front());
}

// The receiver has all of a batch.
void Run::read_all(Index batch) {
  if (cost_of(batch).pipe <= 0 || !writer_) return;
  const std::size_t worker = *writer_;
  writer_.reset();
  left(worker);
  write_next();
}

void Run::moved(std::size_t worker) {
  const Index batch = workers_[worker].leaving.front();
  left(worker);
  arrived(batch);
}

void Run::left(std::size_t worker) {
  auto& leaving = workers_[worker].leaving;
  leaving.pop_front();
  if (!leaving.empty()) move(worker);
}

void Run::arrived(Index batch) {
  if (!settings_.pin_memory) return deliver(batch);
  to_pin_.push_back(batch);
  if (!pinning_) pin_next();
}

// The pin thread takes one batch after the other out of the result queue.
void Run::pin_next() {
  pinning_ = !to_pin_.empty();
  if (!pinning_) return;
  const PlannedBatch& cost = cost_of(to_pin_.front());
  begin(pin_actor(), {.idle = cost.pipe + cost.receive + cost.pin, .slices = 1});
}

void Run::pinned() {
  const Index batch = to_pin_.front();
  to_pin_.pop_front();
  read_all(batch);
  pin_next();
  deliver(batch);
}

void Run::deliver(Index batch) {
  results_.push_back(batch);
  if (training_ == Training::waiting) receive();
}

}  // namespace lotus::analyzer
