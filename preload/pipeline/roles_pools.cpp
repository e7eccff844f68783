// Pools of threads that make batches or parts of them: what they are given while a batch is made is done for
// it, and its functions are operations, whichever thread runs them.
#include <cstdint>
#include <iterator>

#include "pipeline/contexts.hpp"
#include "pipeline/handlers.hpp"
#include "pipeline/libraries.hpp"
#include "pipeline/other_loaders.hpp"
#include "pipeline/own_loaders.hpp"
#include "pipeline/pauses.hpp"
#include "python/objects.hpp"
#include "python/python_thread.hpp"
#include "record/recorder.hpp"
#include "record/setting.hpp"
#include "system/thread_id.hpp"

namespace lotus {
namespace {

// The newest ones.
struct Pool {
  const py::Object* queue = nullptr;  // only compared: it may be gone
  std::uint32_t owner = 0;            // whose loader gives it work, see owner_of(); 0: PyTorch's
};
constexpr std::size_t kMostPools = 16;
constinit Pool pools[kMostPools] = {};
constinit std::size_t made = 0;

// For a loader, of a package or maybe of the program's own; a forked child knows by it what it is.
constinit bool starts_process = false, starts_own_process = false;

constinit thread_local const py::Object* pool_queue = nullptr;  // of the pool that this thread is one of

const Pool* find_pool(const py::Object* queue) {
  for (const Pool& pool : pools)
    if (pool.queue == queue && queue != nullptr) return &pool;
  return nullptr;
}

// Whose code gives a pool work that may be a loader's; 0: none's. What Python's Executor.map() gives a pool
// is of the loader that its results are.
std::uint32_t giving_owner() {
  const Owned code(calling_code());
  const std::uint32_t owner = code ? owner_of(code.get()) : kUnknownOwner;
  if (owner >= kFirstPackage || owner == kStandardLibrary) return owner;
  return OwnCall::is_running() && is_main_thread() ? kProgram : kUnknownOwner;
}

const StageContext* current_stage() {
  const Context* const context = python_thread.context;
  if (context == nullptr || context->kind != Context::Kind::first_frame) return nullptr;
  const auto* operation = static_cast<const OperationContext*>(context);
  return operation->stage ? static_cast<const StageContext*>(operation) : nullptr;
}

// The function that a thread or a process is made to run. Nothing is kept: the thread does.
struct Target {
  const py::Object* code = nullptr;  // nullptr: it is none of Python's
  py::Object* self = nullptr;        // the object whose method it is; nullptr: it is no method
  std::uint32_t owner = kUnknownOwner;
};

Target target_in(py::Object* callable, py::Object* self) {
  py::Object* function = callable;
  if (py::is_exactly(function, py::api.PyMethod_Type)) {
    self = py::api.PyMethod_Self(callable);
    function = py::api.PyMethod_Function(callable);
  }
  if (!py::is_exactly(function, py::api.PyFunction_Type)) return {};
  py::Object* const code = py::api.PyFunction_GetCode(function);
  return {code, self, owner_of(code)};
}

Target target_of(py::Object* self) {
  const Owned target(self != nullptr ? plain_attribute(self, names._target) : nullptr);
  return target ? target_in(target.get(), nullptr) : Target{};
}

// … where a subclass of Thread says it by a `run` of its own, too.
Target target_of_thread(py::Object* self) {
  py::Object* const run = self != nullptr ? py::api._PyType_Lookup(py::type_of(self), names.run) : nullptr;
  const Target own = run != nullptr ? target_in(run, self) : Target{};
  return own.owner == kStandardLibrary ? target_of(self) : own;
}

// The package whose function a thread or a process is made to run; 0: none's.
std::uint32_t library_of_target(py::Object* self) {
  const std::uint32_t owner = target_of(self).owner;
  return owner >= kFirstPackage ? owner : 0;
}

// Threads that an iterator of the program's own has started, and that do not run yet; only compared.
constinit const py::Object* started[16] = {};
constinit std::size_t starts = 0;

bool was_started_by_iterator(const py::Object* thread) {
  for (const py::Object*& one : started)
    if (one == thread) {
      one = nullptr;
      return true;
    }
  return false;
}

bool is_iterable(py::Object* object) {
  return object != nullptr && py::api._PyType_Lookup(py::type_of(object), names.__iter__) != nullptr;
}

// What this process works for, if its parent has such a loader: not known yet.
constinit StageContext* stage_of_process = nullptr;

// Threads of pools of multiprocessing, of which it is not known yet whether they work for a loader.
struct PoolThread {
  const py::Object* queue = nullptr;  // of its pool's tasks; only compared
  StageContext* stage = nullptr;
};
constinit PoolThread pool_threads[32] = {};

// As long as it runs, which may be until Python makes it vanish.
class PoolThreadScope {
 public:
  PoolThreadScope(PoolThread& place, const py::Object* queue, StageContext& stage)
      : place_(place), stage_(stage) {
    place_ = {queue, &stage};
  }
  ~PoolThreadScope() {
    if (place_.stage == &stage_) place_ = PoolThread{};
  }
  PoolThreadScope(const PoolThreadScope&) = delete;
  PoolThreadScope& operator=(const PoolThreadScope&) = delete;

 private:
  PoolThread& place_;
  const StageContext& stage_;
};

void set_kind(Context& context, Context::Kind kind) {
  context.kind = kind;
  context.place = Context::place_of(kind);
}

py::Object* run_stage(const Call& call, std::uint32_t owner) {
  StageContext context(owner);
  const ContextScope scope(context);
  return call.run();
}

void begin_work(StageContext& stage, std::uint32_t owner) {
  stage.owner = owner;
  set_kind(stage, Context::Kind::first_frame);
}

void note_pool(const py::Object* queue, std::uint32_t owner) {
  if (find_pool(queue) != nullptr) return;
  pools[made++ % kMostPools] = {queue, owner};
  for (PoolThread& thread : pool_threads)
    if (thread.queue == queue) begin_work(*thread.stage, owner);
}

}  // namespace

void forget_pools() {
  for (PoolThread& thread : pool_threads)
    if (thread.queue != nullptr) thread = PoolThread{};
  for (Pool& pool : pools)
    if (pool.queue != nullptr) pool = Pool{};
  pool_queue = nullptr;
  stage_of_process = nullptr;
  for (const py::Object*& one : started) one = nullptr;
}

py::Object* pool_submit(Call& call) {
  py::Object* const self = role_local(call, 0);
  const StageContext* const stage = current_stage();
  const bool of_torch = python_thread.context != nullptr && stage == nullptr;
  const std::uint32_t owner = of_torch || !may_be_stage() ? 0
                              : stage != nullptr          ? stage->owner
                                                          : giving_owner();
  if (self == nullptr || (!of_torch && owner == 0)) return call.run();
  const Owned queue(plain_attribute(self, names._work_queue));
  if (queue && find_pool(queue.get()) == nullptr) pools[made++ % kMostPools] = {queue.get(), owner};
  return call.run();
}

// A pool of multiprocessing is given work. That of a loader of the program's own is known by the first that
// it gets while its iterator runs, whoever calls it: joblib does.
py::Object* give_pool_tasks(Call& call) {
  py::Object* const self = role_local(call, 0);
  const StageContext* const stage = current_stage();
  const bool own =
      stage == nullptr && python_thread.context == nullptr && is_main_thread() && OwnCall::is_running();
  if (self == nullptr || !may_be_stage() || (stage == nullptr && !own)) return call.run();
  const Owned queue(plain_attribute(self, names._inqueue));
  if (queue) note_pool(queue.get(), own ? kProgram : stage->owner);
  return call.run();
}

// A thread of such a pool, as long as it lives.
py::Object* run_pool_thread(Call& call) {
  if (process.generation != 0 || is_main_thread() || python_thread.context != nullptr || !may_be_stage())
    return call.run();
  const auto* const queue = static_cast<const py::Object*>(role_local(call, 0));
  StageContext context(kProgram);
  set_kind(context, Context::Kind::opaque);  // calls cost little as long as it is not known
  PoolThread* place = nullptr;
  for (PoolThread& thread : pool_threads)
    if (place == nullptr && thread.queue == nullptr) place = &thread;
  if (queue == nullptr || place == nullptr) return call.run();
  const PoolThreadScope known(*place, queue, context);
  if (const Pool* const pool = find_pool(queue)) begin_work(context, pool->owner);
  const ContextScope scope(context);
  return call.run();
}

// The pool's thread may have been started before the pool was given anything for a batch.
py::Object* pool_worker(Call& call) {
  const Setting queue(pool_queue, static_cast<const py::Object*>(role_local(call, 0)));
  return call.run();
}

py::Object* pool_work(Call& call) {
  const Pool* const pool = find_pool(pool_queue);
  if (pool == nullptr || python_thread.context != nullptr) return call.run();
  if (pool->owner != 0) return makes_for(pool->owner) ? run_stage(call, pool->owner) : call.run();
  SampleContext context(nullptr, nullptr);
  py::Object* result = nullptr;
  {
    const ContextScope scope(context);
    result = call.run();
  }
  if (Thread* thread = current_thread()) end_batch(*thread);
  return result;
}

// An iterator of a package starts processes for its loader: they are of this process's trace, which begins
// now. One of the program's own may turn out to be none.
py::Object* start_process(Call& call) {
  const bool starts = is_iterating() && may_be_stage();
  const bool library = starts && library_of_target(role_local(call, 0)) != 0 && current_thread() != nullptr;
  const Setting now(starts_process, library);
  const Setting now_own(starts_own_process, starts);
  return call.run();
}

// A thread's `run`: it lasts as long as the thread does.
py::Object* run_target(Call& call) {
  // In a forked child only if that was forked for it: another one would begin a trace of its own.
  const bool of_others = (process.generation != 0 || is_main_thread()) && !starts_process;
  if (of_others || python_thread.context != nullptr || !may_be_stage()) return call.run();
  const std::uint32_t library = library_of_target(role_local(call, 0));
  return library != 0 ? run_stage(call, library) : call.run();
}

// A process that multiprocessing started, in whatever way. Whether it works for a loader its parent knows, or
// will: a trace of its own never begins by that. Where it runs the program's own function, it may as well be
// the training of one of several ranks, unless the loader's iterator has forked it, or the function is a
// method of an object that can be iterated over.
py::Object* run_process(Call& call) {
  if (python_thread.context != nullptr || !may_be_stage()) return call.run();
  const Target target = target_of(role_local(call, 0));
  if (starts_process && target.owner >= kFirstPackage) return run_stage(call, target.owner);
  const bool own = target.owner == kProgram && (starts_own_process || is_iterable(target.self));
  if (!own && target.owner != kStandardLibrary && target.owner < kFirstPackage) return call.run();
  StageContext context(target.owner);
  if (own) {
    context.body = target.code;
    context.self = target.self;
    context.loader = target.self;
    context.begin = ticks_now();
  }
  set_kind(context, Context::Kind::opaque);  // calls cost little as long as it is not known
  const Setting waiting(stage_of_process, &context);
  const ContextScope scope(context);
  return call.run();
}

void look_for_work_of_parent() {
  StageContext* const stage = stage_of_process;
  if (stage == nullptr || python_thread.context != stage || !parent_makes_for(stage->owner)) return;
  stage->parent_has_loader = true;
  set_kind(*stage, Context::Kind::first_frame);
  stage_of_process = nullptr;
}

// A thread that an iterator of the program's own starts, or one that runs a method of an object that can be
// iterated over, makes what that one gives, if it turns out to be a loader.
py::Object* start_thread(Call& call) {
  if (is_main_thread() && is_iterating()) started[starts++ % std::size(started)] = role_local(call, 0);
  return call.run();
}

py::Object* run_thread(Call& call) {
  py::Object* const self = role_local(call, 0);
  const bool noted = was_started_by_iterator(self);
  if (process.generation != 0 || python_thread.context != nullptr || !may_be_stage()) return call.run();
  const Target target = target_of_thread(self);
  if (target.owner != kProgram || !(noted || is_iterable(target.self))) return call.run();
  StageContext context(kProgram);
  context.body = target.code;
  context.self = target.self;
  context.loader = target.self;
  context.begin = ticks_now();
  const ContextScope scope(context);
  return call.run();
}

}  // namespace lotus
