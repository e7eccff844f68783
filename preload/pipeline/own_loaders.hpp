// Loaders that the program has written itself, in its own code: a generator, or a class with __next__; and
// what Python's standard library gives it, as the results of a pool.
//
// Such an iterator looks like any other one that gives tensors: parameters, time steps, measurements. What
// tells is what is done with them: a batch is what training makes a step of its optimizer with. So it is one
// that gives arrays of two dimensions or more, none of which has a gradient (then a model made it), and
// between whose results the optimizer steps: twice, and never so often in between that it rather gives whole
// datasets, as folds do. Of iterators in one another, as prefetching ones are, the outermost for which that
// holds is the one.
//
// The same is asked of an iterator of a package whose results the package takes itself: see takers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "python/cpython.hpp"

namespace lotus {

// A batch that an iterator's function gave.
struct GivenBatch {
  const void* iterator = nullptr;    // only compared: the object, or of a generator its frame
  std::uint64_t begin = 0, end = 0;  // of the call, in ticks
  std::uint64_t samples = 0;
};

enum class Whose : std::uint8_t { program, package };

// A call of such an iterator's function, while it runs. On the main thread only.
class OwnCall {
 public:
  OwnCall(const py::Object* code, const void* iterator, Whose whose);
  ~OwnCall();
  OwnCall(const OwnCall&) = delete;
  OwnCall& operator=(const OwnCall&) = delete;

  // It gave a batch. The batches that it gave so far, the oldest first, if it is known to be a loader by now;
  // else none. They hold until the next call.
  std::span<const GivenBatch> gave(const GivenBatch& batch);
  // The iterator gave its last one, or another iterator was made.
  void ended();
  // Whether it gave so many arrays without a step in between that it is no loader.
  bool is_hopeless() const;

  // A call of an iterator's function runs.
  static bool is_running();

 private:
  bool is_inside_of_one() const;

  const py::Object* code_;
  const void* iterator_;
  OwnCall* around_;
  std::uint64_t steps_;  // of the optimizer, when it began
  std::uint64_t calls_;  // … of models
  Whose whose_;
};

// The optimizer steps now. Only the main thread's steps count.
void note_optimizer_step();
std::uint64_t optimizer_steps_taken();

// Whether training goes on with a batch that an iterator gave at `steps`, which may yet turn out to be a
// loader.
bool trains_with_batch_of(std::uint64_t steps);
// The same of all iterators whose calls are watched.
bool may_have_own_loader();

// A forked child trains nothing.
void forget_own_loaders();

}  // namespace lotus
