// The frame evaluator (PEP 523) that liblotus puts before CPython's own.
//
// Every code object gets, once, what is known of it: kPlain, or a CodeInfo. A plain code outside a fetch
// costs one load and a jump. Everything else is a handler, a function that wraps the call.
//
// Why not sys.monitoring, from 3.12 on? What decides:
// - Operations are found by rule, among all frames below a fetch. Monitoring costs nothing for code that is
//   not looked at, but in a pipeline we look at all of it, and there an event at each start and return costs
//   four times what an evaluator does (bench/evaluators: +80 against +20 ns a call on 3.12 and 3.13).
// - Outside of a pipeline these 20 ns are below the noise of real programs.
// - A snapshot of the stack ends where the operation's C frames do, at our evaluator's own frame. Without an
//   evaluator Python's calls share one C frame, and nothing tells an operation's native functions from its
//   caller's.
// - Events give no locals, and PY_UNWIND comes for all code.
// - torch.compile, coverage.py, sys.settrace and other tools of sys.monitoring work beside the evaluator
//   (tests/e2e/test_compiled.py); monitoring has six places for tools in all, which they share.
// - Recursion goes as deep as without us: evaluate_deep() in evaluator.cpp.
#pragma once

#include <cstdint>

#include "cpython.hpp"
#include "recorder.hpp"

namespace lotus {

struct CodeInfo;
struct Context;
struct Iterator;

// CPython's own evaluator.
extern constinit py::Evaluator evaluate_next;

// One Python frame about to be evaluated.
struct Call {
  py::ThreadState* state;
  py::Frame* frame;
  int throwing;
  py::Object* code;
  CodeInfo* info;          // may be nullptr while classifying
  std::uintptr_t entry{};  // the C stack address below which the evaluation's frames lie, 0 if nobody asks

  // Evaluates the frame. nullptr: it raised, and a Python exception is pending. Locals must be read before:
  // from 3.12 the frame is gone afterwards.
  py::Object* run() const { return evaluate_next(state, frame, throwing); }
};

using Handler = py::Object* (*)(Call&);

// A row of the role table: a function of PyTorch or of the standard library with a role of its own.
struct Role {
  const char* file;      // end of co_filename
  const char* function;  // co_name
  Handler handler;
  const char* locals[3];  // local variables that the handler reads, by name
};

// A call inside the pipeline, for stack snapshots: on the C stack, so that its address tells which native
// frames belong to it.
struct PythonCall {
  const PythonCall* up;
  const PythonCall* self;  // its own address: whether this still is one
  std::uint32_t code;      // definition `code`, 0: there was no room for one
};

enum class Verdict : std::uint8_t { open, no, yes };

enum Trait : std::uint8_t {
  kTransparent = 1,  // its callees count as its caller's: comprehensions, generators, contextlib …
  kIgnored = 2,      // special methods that are no operation: __len__, __getattr__ …
  kGenerator = 4,    // generators and generator-based iterables
  kGetItem = 8,      // co_name is __getitem__
  kGetItems = 16,    // co_name is __getitems__
  kNext = 32,        // co_name is __next__
};

constexpr int kMaxKept = 2;  // callables that one function calls for its `self`

struct CodeInfo {
  const Role* role = nullptr;
  py::Object* attribute = nullptr;       // runner: the attribute that holds its callables (owned by the code)
  std::uint64_t callables_print = 0;     // … and what it held last, see fingerprint()
  const void* key = nullptr;             // last callable or type seen with this code, and …
  std::uint32_t key_definition = 0;      // … its op definition
  std::uint32_t generation = 0;          // of key_definition
  std::uint32_t code_definition = 0;     // definition `code`, of …
  std::uint32_t code_generation = 0;     // … this generation
  std::int16_t local[3] = {-1, -1, -1};  // indices of role->locals
  std::int16_t first = -1;               // index of the first argument, -1 if there is none
  std::uint8_t arguments = 0;            // co_argcount, at most 255
  std::uint8_t traits = 0;
  std::uint8_t tries = 0;  // looks at runner candidates whose list was still empty
  Verdict runner = Verdict::open;
  Verdict keeper = Verdict::open;
  std::uint8_t keeper_tries = 0;
  py::Object* kept[kMaxKept] = {};  // keeper: the attributes that hold callables (owned by the code)
  bool callables_seen = false;
};

// A library's code that calls what its `self` was given, self.transform(rows), while it is being evaluated.
struct Keeper {
  const CodeInfo* info;
  py::Object* code;
  py::Object* self;
};

// What a frame below is part of. Lives on the C stack of the handler that opened it.
struct Context {
  enum class Kind : std::uint8_t { fetch, sample, runner, op, opaque };
  Kind kind = Kind::opaque;
  bool iterable = false;      // fetch: from an iterable dataset
  bool sampled = false;       // fetch: a sample was made; what comes next is the collate function
  bool batched = false;       // sample: in fact all samples of a batch at once, __getitems__
  bool guessed = false;       // op: the first frame of a sample, called by no runner
  std::uint8_t depth = 0;     // runner: unmatched frames between it and here
  std::uint8_t expanded = 0;  // sample: helper methods of the dataset that were opened up
  Context* up = nullptr;
  // Held for the life of the ContextScope, since what runs may let go of them; but the `self` of an operation
  // without a keeper, which is only compared.
  py::Object* self = nullptr;      // fetch: the dataset; sample: the dataset; runner, op: the callable
  py::Object* items = nullptr;     // runner, sample: the container of callables, or nullptr
  py::Object* collate = nullptr;   // fetch
  const Keeper* keeper = nullptr;  // op: the innermost one inside it
  py::Ssize next_item = 0;
  std::uint64_t samples_end = 0;  // fetch: ticks when the last sample was done
  std::uint64_t serial = 0;       // of the thread's contexts, from 1
};

struct BatchName {
  std::uint64_t iterator = 0, reset = 0, batch = 0;
};

// A Queue.get that is under way, and what it turned into.
struct Receiving {
  bool begun = false;
  bool unpickling = false;
  Span span{};
  std::uint64_t bytes = 0;
};

// What this thread is doing, as far as Python frames told.
struct alignas(64) PythonThread {
  // What calls and operations need, in one line of memory:
  std::uintptr_t stack_floor =
      UINTPTR_MAX;  // below it, recursion is too deep for hooked calls; MAX: not known yet
  Context* context{};
  std::uint64_t context_serial{};  // of `context`
  std::uint64_t serials{};
  bool tangled{};             // see tangle()
  const PythonCall* calls{};  // inside the pipeline, innermost first
  bool in_sample{};           // a sample is being made, …
  bool path_known{};          // … and its file is known
  const Call* worker{};       // the frame of _worker_loop, in a worker's main thread
  std::uint64_t worker_reset{};
  BatchName batch{};  // num_workers=0: the batch being made
  bool batch_known{};
  Iterator* getting{};           // inside _get_data, or the pin thread's iterator
  Receiving receiving{};         // inside Queue.get of the result queue
  const Call* pin_loop{};        // the frame of _pin_memory_loop
  const Call* pin_step{};        // the frame of its do_one_step
  bool pinned{};                 // this step pinned a batch, …
  std::uint64_t pinned_batch{};  // … this one
  bool feeder{};                 // a queue's feeder thread in a worker
  bool feeds_batch{};            // feeder_batch is what it sends
  std::uint64_t feeder_batch{};
  bool serializing{};
  std::uint64_t storage_bytes{};
};
extern constinit thread_local PythonThread here;

// This thread's calls do not nest: something else than return left one of them. Greenlets do so all the time,
// and run other calls on the same stack meanwhile, so that a context may not be what it was. Nothing of
// Python is recorded in this thread any more.
[[gnu::cold]] void tangle();

// The current context, if it is what it was, and that of a call around the one with this frame; else nullptr,
// and the thread is tangled.
Context* context_around(const void* frame);

// Puts a context before the current one for the life of the scope.
class ContextScope {
 public:
  explicit ContextScope(Context& context)
      : context_(context),
        outer_serial_(here.context_serial),
        generation_(process.generation),
        held_(context.kind != Context::Kind::op || context.items != nullptr || context.keeper != nullptr) {
    if (held_) {
      py::api.Py_IncRef(context.self);
      py::api.Py_IncRef(context.items);
    }
    context.up = here.context;
    context.serial = ++here.serials;
    here.context = &context;
    here.context_serial = context.serial;
  }
  ~ContextScope() {
    leave();
    if (held_) {
      py::api.Py_DecRef(context_.items);
      py::api.Py_DecRef(context_.self);
    }
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  void leave() {
    if (generation_ != process.generation) return;
    if (here.context == &context_ && here.context_serial == context_.serial) {
      here.context = context_.up;
      here.context_serial = outer_serial_;
    } else {
      tangle();
    }
  }

  Context& context_;
  std::uint64_t outer_serial_;
  std::uint32_t generation_;
  bool held_;
};

// Sets a variable for the life of the scope, unless a fork comes between.
template <class T>
class Setting {
 public:
  Setting(T& target, T value) : target_(target), saved_(target), generation_(process.generation) {
    target = value;
  }
  ~Setting() {
    if (generation_ == process.generation) target_ = saved_;
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  T& target_;
  T saved_;
  std::uint32_t generation_;
};

// Snapshots that are taken while `run` runs name this Python function.
template <class Run>
[[gnu::always_inline]] inline py::Object* run_named(std::uint32_t code, Run&& run) {
  PythonCall self{here.calls, &self, code};
  const std::uint32_t generation = process.generation;
  __atomic_signal_fence(__ATOMIC_RELEASE);
  here.calls = &self;
  py::Object* result = run();
  if (generation == process.generation) here.calls = self.up;
  return result;
}

// Makes this library the interpreter's frame evaluator. Returns nullptr, or why not.
const char* install_evaluator();

// ---- Helpers for handlers ----

// The local variable at an index, out of its cell if it is in one; nullptr for index -1 or while unbound.
py::Object* local_variable(const Call& call, int index);

// The frame's first argument (`self` of methods); nullptr if it has none.
inline py::Object* first_argument(const Call& call) { return local_variable(call, call.info->first); }

// The n-th local of role->locals; nullptr if absent or unbound.
inline py::Object* role_local(const Call& call, int n) { return local_variable(call, call.info->local[n]); }

// How a span ends whose frame returned `result`: StopIteration is leave_empty, other exceptions leave_error.
Kind how_left(const py::Object* result);

// The info of a code object, made if need be; nullptr when there is no room for one more.
CodeInfo* info_of(py::Object* code);

}  // namespace lotus
