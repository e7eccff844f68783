// Pools of threads that make batches or parts of them: what they are given while a batch is made is done for
// it, and its functions are operations, whichever thread runs them.
#include "pipeline/contexts.hpp"
#include "pipeline/handlers.hpp"
#include "pipeline/pauses.hpp"
#include "python/objects.hpp"
#include "python/python_thread.hpp"
#include "record/recorder.hpp"
#include "record/setting.hpp"

namespace lotus {
namespace {

// The queues of the newest ones; only compared, they may be gone.
constexpr std::size_t kMostPools = 16;
constinit const py::Object* pools[kMostPools] = {};
constinit std::size_t made = 0;

constinit thread_local const py::Object* pool_queue = nullptr;  // of the pool that this thread is one of

bool is_of_pipeline(const py::Object* queue) {
  for (const py::Object* other : pools)
    if (other == queue && queue != nullptr) return true;
  return false;
}

}  // namespace

void forget_pools() {
  for (std::size_t i = 0; i < kMostPools; ++i)
    if (pools[i] != nullptr) pools[i] = nullptr;
  pool_queue = nullptr;
}

py::Object* pool_submit(Call& call) {
  py::Object* const self = role_local(call, 0);
  if (python_thread.context == nullptr || self == nullptr) return call.run();
  const Owned queue(plain_attribute(self, names._work_queue));
  if (queue && !is_of_pipeline(queue.get())) pools[made++ % kMostPools] = queue.get();
  return call.run();
}

// The pool's thread may have been started before the pool was given anything for a batch.
py::Object* pool_worker(Call& call) {
  const Setting queue(pool_queue, static_cast<const py::Object*>(role_local(call, 0)));
  return call.run();
}

py::Object* pool_work(Call& call) {
  if (!is_of_pipeline(pool_queue) || python_thread.context != nullptr) return call.run();
  SampleContext context(nullptr, nullptr);
  py::Object* result = nullptr;
  {
    const ContextScope scope(context);
    result = call.run();
  }
  if (Thread* thread = current_thread()) end_batch(*thread);
  return result;
}

}  // namespace lotus
