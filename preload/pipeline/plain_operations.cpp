#include "pipeline/plain_operations.hpp"

#include <cstring>

#include "pipeline/feeder.hpp"
#include "pipeline/operation_names.hpp"
#include "python/evaluator.hpp"
#include "python/frame_chain.hpp"
#include "python/python_calls.hpp"
#include "python/python_thread.hpp"

namespace lotus {
namespace {

constexpr std::uint32_t kManyCalls = 100;  // taking the evaluator away and back costs as much as a few calls
constexpr std::uint16_t kEnoughAtFirst = 8;  // runs, …
constexpr std::uint16_t kMostEnough = 8192;  // … more each time that something turns up after all
constexpr std::uint16_t kLookEvery = 32;
constexpr int kMostThreads = 3;  // of a worker: its own, its queue's feeder, one that hands out descriptors

struct PlainOperation {
  std::uint16_t in_a_row;   // runs with many calls of which none played a role
  std::uint16_t enough;     // of them
  std::uint16_t unwatched;  // runs without our evaluator since the last with it
};
constinit PlainOperation operations[kMaxDefinitions]{};

enum class Frames : std::uint8_t { untried, found, not_found };
constinit Frames frames = Frames::untried;

bool can_name_frames(const py::ThreadState* state) {
  if (frames == Frames::untried) frames = finds_frames(state) ? Frames::found : Frames::not_found;
  return frames == Frames::found;
}

int count_threads() {
  int count = 0;
  for (py::ThreadState* state = py::api.PyInterpreterState_ThreadHead(py::api.PyInterpreterState_Get());
       state != nullptr && count <= kMostThreads; state = py::api.PyThreadState_Next(state))
    ++count;
  return count;
}

// Free-threaded: what other threads begin meanwhile is not known.
bool is_alone() {
  if (py::free_threaded) return false;
  const int threads = count_threads();
  return threads == 1 || (process.worker && threads <= kMostThreads && batches_in_feeder == 0);
}

void learn(PlainOperation& operation, std::uint32_t calls, bool looked) {
  if (operation.enough == 0) operation.enough = kEnoughAtFirst;
  if (looked && operation.in_a_row >= operation.enough && operation.enough < kMostEnough)
    operation.enough = static_cast<std::uint16_t>(4 * operation.enough);
  if (looked || calls < kManyCalls)
    operation.in_a_row = 0;
  else if (operation.in_a_row < operation.enough)
    ++operation.in_a_row;
}

}  // namespace

py::Object* run_perhaps_plain(const Call& call, std::uint32_t definition) {
  if (definition == 0 || definition >= kMaxDefinitions) return call.run();
  PlainOperation& operation = operations[definition];
  const bool plain = operation.in_a_row != 0 && operation.in_a_row >= operation.enough;
  const bool unhooked =
      plain && operation.unwatched < kLookEvery && is_alone() && can_name_frames(call.state);
  const std::uint32_t generation = process.generation;
  const std::uint32_t looks = python_thread.looks;
  const std::uint32_t calls = python_thread.calls_inside;
  py::Object* result = unhooked ? evaluate_unhooked(call.state, call.frame, call.throwing) : call.run();
  if (generation != process.generation) return result;
  const bool looked = looks != python_thread.looks;
  operation.unwatched = unhooked ? static_cast<std::uint16_t>(operation.unwatched + 1) : 0;
  // Where calls inside were told meanwhile, one of them was an operation.
  if (!unhooked || looked) learn(operation, python_thread.calls_inside - calls, looked);
  return result;
}

void forget_plain_operations() { std::memset(static_cast<void*>(operations), 0, sizeof operations); }

}  // namespace lotus
