// Pools of threads that make batches or parts of them: what they are given while a batch is made is done for
// it, and its functions are operations, whichever thread runs them.
#include <cstdint>

#include "pipeline/contexts.hpp"
#include "pipeline/handlers.hpp"
#include "pipeline/libraries.hpp"
#include "pipeline/other_loaders.hpp"
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
  std::uint32_t library = 0;          // whose loader gives it work; 0: PyTorch's
};
constexpr std::size_t kMostPools = 16;
constinit Pool pools[kMostPools] = {};
constinit std::size_t made = 0;

constinit bool starts_process = false;  // for a loader; a forked child knows by it what it is

constinit thread_local const py::Object* pool_queue = nullptr;  // of the pool that this thread is one of

const Pool* find_pool(const py::Object* queue) {
  for (const Pool& pool : pools)
    if (pool.queue == queue && queue != nullptr) return &pool;
  return nullptr;
}

// The installed package whose code calls the function that is about to be evaluated; 0: none's.
std::uint32_t calling_library() {
  const Owned code(calling_code());
  const std::uint32_t owner = code ? owner_of(code.get()) : kUnknownOwner;
  return owner >= kFirstPackage ? owner : 0;
}

const StageContext* current_stage() {
  const Context* const context = python_thread.context;
  if (context == nullptr || context->kind != Context::Kind::first_frame) return nullptr;
  const auto* operation = static_cast<const OperationContext*>(context);
  return operation->stage ? static_cast<const StageContext*>(operation) : nullptr;
}

// The package whose function a thread or a process is made to run; 0: none's.
std::uint32_t library_of_target(py::Object* self) {
  const Owned target(self != nullptr ? plain_attribute(self, names._target) : nullptr);
  if (!target) return 0;
  py::Object* function = target.get();
  if (py::is_exactly(function, py::api.PyMethod_Type)) function = py::api.PyMethod_Function(function);
  if (!py::is_exactly(function, py::api.PyFunction_Type)) return 0;
  const std::uint32_t owner = owner_of(py::api.PyFunction_GetCode(function));
  return owner >= kFirstPackage ? owner : 0;
}

py::Object* run_stage(const Call& call, std::uint32_t library) {
  StageContext context(library);
  const ContextScope scope(context);
  return call.run();
}

}  // namespace

void forget_pools() {
  for (Pool& pool : pools)
    if (pool.queue != nullptr) pool = Pool{};
  pool_queue = nullptr;
}

py::Object* pool_submit(Call& call) {
  py::Object* const self = role_local(call, 0);
  const StageContext* const stage = current_stage();
  const bool of_torch = python_thread.context != nullptr && stage == nullptr;
  const std::uint32_t library = of_torch || !may_be_stage() ? 0
                                : stage != nullptr          ? stage->owner
                                                            : calling_library();
  if (self == nullptr || (!of_torch && library == 0)) return call.run();
  const Owned queue(plain_attribute(self, names._work_queue));
  if (queue && find_pool(queue.get()) == nullptr) pools[made++ % kMostPools] = {queue.get(), library};
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
  if (pool->library != 0) return run_stage(call, pool->library);
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
// now.
py::Object* start_process(Call& call) {
  const bool starts = is_iterating() && may_be_stage() && library_of_target(role_local(call, 0)) != 0;
  const Setting now(starts_process, starts && current_thread() != nullptr);
  return call.run();
}

// A thread's `run`, or a process's: it lasts as long as the thread does.
py::Object* run_target(Call& call) {
  // Of processes only those that were forked for it: another one would begin a trace of its own.
  const bool of_others = (process.generation != 0 || is_main_thread()) && !starts_process;
  if (of_others || python_thread.context != nullptr || !may_be_stage()) return call.run();
  const std::uint32_t library = library_of_target(role_local(call, 0));
  return library != 0 ? run_stage(call, library) : call.run();
}

}  // namespace lotus
