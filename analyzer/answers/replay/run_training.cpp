// The training process, modelled on PyTorch's _MultiProcessingDataLoaderIter.
#include <utility>

#include "answers/replay/run.hpp"

namespace lotus::analyzer {

void Run::training_done() {
  switch (training_) {
    case Training::starting:
      loop_began_ = machine_.now();
      return call_next();
    case Training::receiving:
      return workers_.empty() ? process_data(expected_) : received();
    case Training::returning:
      return return_batch();
    case Training::stepping:
      return end_step();
    case Training::finishing:
      outcome_.achieved.next += machine_.now() - next_began_;
      over_ = true;
      return;
    case Training::waiting:
      return;
  }
}

void Run::call_next() {
  next_began_ = machine_.now();
  next_data();
}

// Without workers the batch is fetched right here.
void Run::next_data() {
  if (workers_.empty()) {
    training_ = Training::receiving;
    fetch(kTraining, expected_, 1);
    return;
  }
  if (early_.erase(expected_) > 0) return process_data(expected_);
  if (!results_.empty()) return receive();
  training_ = Training::waiting;
}

void Run::receive() {
  training_ = Training::receiving;
  current_ = results_.front();
  results_.pop_front();
  const PlannedBatch& cost = cost_of(current_);
  const double time = settings_.pin_memory ? overheads_.handover : cost.pipe + cost.receive;
  begin(kTraining, {.idle = time, .slices = 1});
}

void Run::received() {
  if (!settings_.pin_memory) read_all(current_);
  if (!settings_.in_order || current_ == expected_) return process_data(current_);
  early_.insert(current_);
  next_data();
}

void Run::process_data(Index batch) {
  current_ = batch;
  training_ = Training::returning;
  begin(kTraining, {.cpu = overheads_.own, .slices = 1});
}

// For each batch that is handed out, another index is queued first; then training gets the batch.
void Run::return_batch() {
  if (workers_.empty()) {
    fetches_ += 1;
    fetching_ += machine_.now() - next_began_ - overheads_.own;
  } else {
    const auto task = worker_of_.find(current_);
    --workers_[task->second].assigned;
    worker_of_.erase(task);
  }
  ++expected_;
  try_put_index();
  if (got_++ == 0) {
    outcome_.first = machine_.now();
    outcome_.first_wait = machine_.now() - next_began_;
  }
  outcome_.achieved.next += machine_.now() - next_began_;
  training_ = Training::stepping;
  step_began_ = machine_.now();
  const std::uint64_t number = got_ - 1;
  const PlannedStep& step = epoch_.steps[order_ == nullptr ? number : order_->steps[number]];
  begin(kTraining, {.cpu = step.cpu, .idle = step.idle, .threads = step.threads, .slices = 1});
}

void Run::end_step() {
  outcome_.step += machine_.now() - step_began_;
  if (got_ < wanted_) return call_next();
  training_ = Training::finishing;
  next_began_ = machine_.now();
  begin(kTraining, {.idle = epoch_.finish, .slices = 1});
}

// The workers take turns. If order does not matter, workers with enough tasks are skipped.
void Run::try_put_index() {
  if (workers_.empty() || sent_ == wanted_) return;
  for (std::size_t tries = 0; tries < workers_.size(); ++tries) {
    const std::size_t worker = std::exchange(cycle_, (cycle_ + 1) % workers_.size());
    if (!settings_.in_order && workers_[worker].assigned >= settings_.prefetch) continue;
    ++workers_[worker].assigned;
    worker_of_[sent_] = worker;
    workers_[worker].tasks.push_back({sent_++, machine_.now() + overheads_.dispatch});
    if (workers_[worker].doing == Doing::nothing) look_for_work(worker);
    return;
  }
}

}  // namespace lotus::analyzer
