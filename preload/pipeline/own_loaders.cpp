#include "pipeline/own_loaders.hpp"

#include "pipeline/takers.hpp"
#include "system/thread_id.hpp"

namespace lotus {
namespace {

constexpr std::uint64_t kMostSteps = 8;  // with one batch: a GAN takes several, a fold of a dataset many
constexpr unsigned kGaps = 2;            // between its batches, in each of which the optimizer stepped
constexpr unsigned kMostIdle = 64;       // gaps without a step: gradients are summed up over some batches
constexpr unsigned kMostIdleOfPackage = 1024;  // it may go through its data before it trains, for their mean
constexpr std::size_t kMostGiven = 16;         // batches that are kept; of more only the latest

struct OwnIterator {
  const py::Object* code = nullptr;
  const void* iterator = nullptr;  // that gave the last batch; nullptr: it has no more
  std::uint64_t steps = 0;         // of the optimizer, when it gave that, …
  std::uint64_t calls = 0;         // … of models
  unsigned gaps = 0, idle = 0;
  std::size_t count = 0;
  GivenBatch given[kMostGiven];
};
// Those of packages do not take the places of the program's own.
constexpr std::size_t kMostIterators = 8;
constinit OwnIterator iterators[2 * kMostIterators] = {};
constinit std::size_t made[2] = {};
constinit OwnCall* innermost = nullptr;
constinit std::uint64_t optimizer_steps = 0;

OwnIterator* find(const py::Object* code) {
  for (OwnIterator& iterator : iterators)
    if (iterator.code == code) return &iterator;
  return nullptr;
}

OwnIterator& find_or_add(const py::Object* code, Whose whose) {
  if (OwnIterator* const known = find(code)) return *known;
  const auto part = static_cast<std::size_t>(whose);
  OwnIterator& oldest = iterators[part * kMostIterators + made[part]++ % kMostIterators];
  oldest = OwnIterator{};
  oldest.code = code;
  return oldest;
}

void keep(OwnIterator& iterator, const GivenBatch& batch) {
  if (iterator.count == kMostGiven) {
    for (std::size_t i = 1; i < kMostGiven; ++i) iterator.given[i - 1] = iterator.given[i];
    --iterator.count;
  }
  iterator.given[iterator.count++] = batch;
}

}  // namespace

OwnCall::OwnCall(const py::Object* code, const void* iterator, Whose whose)
    : code_(code),
      iterator_(iterator),
      around_(innermost),
      steps_(optimizer_steps),
      calls_(models_called()),
      whose_(whose) {
  innermost = this;
}

// A forked child may return from its parent's calls.
OwnCall::~OwnCall() {
  if (innermost == this) innermost = around_;
}

bool OwnCall::is_running() { return innermost != nullptr; }

// One whose own batches have had a step between them.
bool OwnCall::is_inside_of_one() const {
  for (const OwnCall* call = around_; call != nullptr; call = call->around_)
    if (const OwnIterator* const outer = find(call->code_); outer != nullptr && outer->gaps != 0) return true;
  return false;
}

std::span<const GivenBatch> OwnCall::gave(const GivenBatch& batch) {
  OwnIterator& iterator = find_or_add(code_, whose_);
  const std::uint64_t steps = steps_ - iterator.steps;
  // What a package evaluates has no steps.
  const bool is_evaluated = whose_ == Whose::package && optimizer_steps == 0 && calls_ != iterator.calls;
  if (iterator.iterator == iterator_ && ((steps != 0 && steps <= kMostSteps) || is_evaluated))
    ++iterator.gaps;
  else
    ++iterator.idle;
  iterator.iterator = iterator_;
  iterator.steps = optimizer_steps;
  iterator.calls = models_called();
  if (whose_ == Whose::package && optimizer_steps == 0) watch_next_call_of_model();
  keep(iterator, batch);
  if (iterator.gaps < kGaps || is_inside_of_one()) return {};
  iterator.code = nullptr;  // its place is free
  return {iterator.given, iterator.count};
}

void OwnCall::ended() {
  if (OwnIterator* const known = find(code_)) known->iterator = nullptr;
}

bool OwnCall::is_hopeless() const {
  const OwnIterator* const known = find(code_);
  return known != nullptr && known->gaps == 0 &&
         known->idle >= (whose_ == Whose::package ? kMostIdleOfPackage : kMostIdle);
}

void note_optimizer_step() {
  if (is_main_thread()) ++optimizer_steps;
}

std::uint64_t optimizer_steps_taken() { return optimizer_steps; }

bool trains_with_batch_of(std::uint64_t steps) { return optimizer_steps - steps <= kMostSteps; }

bool may_have_own_loader() {
  for (const OwnIterator& iterator : iterators)
    if (iterator.code != nullptr && iterator.iterator != nullptr && trains_with_batch_of(iterator.steps))
      return true;
  return false;
}

void forget_own_loaders() {
  for (OwnIterator& iterator : iterators)
    if (iterator.code != nullptr) iterator = OwnIterator{};
  innermost = nullptr;
}

}  // namespace lotus
