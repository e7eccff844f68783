// Making batches: the worker's loop and fetch, in a worker process or (num_workers=0) in the training
// process.
#include "pipeline/roles_worker.hpp"

#include "native/methods.hpp"
#include "native/torch_ops.hpp"
#include "operators/steps.hpp"
#include "pipeline/batch_message.hpp"
#include "pipeline/contexts.hpp"
#include "pipeline/handlers.hpp"
#include "pipeline/operation_names.hpp"
#include "pipeline/pauses.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/process_facts.hpp"
#include "pipeline/process_start.hpp"
#include "pipeline/trial.hpp"
#include "python/call_costs.hpp"
#include "python/collecting.hpp"
#include "python/objects.hpp"
#include "python/python_thread.hpp"
#include "record/recorder.hpp"
#include "record/reopened.hpp"

namespace lotus {
namespace {

struct WorkerRole {
  const Call* loop{};  // the frame of _worker_loop, in a worker's main thread
  std::uint64_t reset{};
  BatchName batch{};  // num_workers=0: the batch being made
  bool batch_known{};
};
constinit thread_local WorkerRole role{};

// Which batch is being fetched: what the innermost loader of this thread says, else the worker's loop.
BatchName batch_being_fetched() {
  if (role.batch_known) return role.batch;
  if (role.loop == nullptr) return {};
  const std::int64_t index = integer_of(role_local(*role.loop, 2), 0);
  // The first create_fetcher of a worker begins epoch 0.
  const std::uint64_t reset = role.reset > 0 ? role.reset - 1 : 0;
  return {0, reset, static_cast<std::uint64_t>(index < 0 ? 0 : index)};
}

// A collate function without Python frame ran from the last sample's end to here.
void close_native_collate(const FetchContext& context, Thread* thread) {
  if (!context.sampled || context.collate == nullptr || thread == nullptr) return;
  if (py::is_exactly(context.collate, py::api.PyFunction_Type)) return;
  const std::uint32_t definition = definition_of_native(context.collate, context.collate, OpRole::collate);
  const Span span = enter_at<Kind::op>(*thread, context.samples_end, definition);
  leave(span, Kind::leave);
}

// Samples in what a dataset in C gave for `key`, nullptr: for none.
std::uint64_t length_of_asked(py::Object* key, py::Object* batch) {
  if (key == nullptr) return batch_length(batch);
  const std::uint64_t length = length_of_list(key);
  return py::is_a(key, py::kLong) ? 1 : length != 0 ? length : batch_length(batch);
}

// How long a fetch waits for a core: tells sleeping from competing with other programs. Two reads would be
// felt in short fetches: they are made where this thread's last one was long.
class CoreWait {
 public:
  CoreWait()
      : before_(last_fetch_ticks * kLongPerSecond > ticks_per_second() ? core_wait_ns() : UINT64_MAX),
        start_(ticks_now()) {}
  bool measures() const { return before_ != UINT64_MAX; }
  // The fetch is over, its span still open.
  void end() const {
    last_fetch_ticks = ticks_now() - start_;
    if (!measures()) return;
    const std::uint64_t after = core_wait_ns();
    if (after != UINT64_MAX && after >= before_) point<Kind::core_wait>(after - before_);
  }

 private:
  static constexpr std::uint64_t kLongPerSecond = 40;  // 25 ms
  static constinit thread_local std::uint64_t last_fetch_ticks;
  std::uint64_t before_, start_;
};
constinit thread_local std::uint64_t CoreWait::last_fetch_ticks = 0;

// Counts in a thread's first fetch, and in each one before which fetches took 500 times what reading the
// counters does: in all that last 9 ms.
class CountedFetch {
 public:
  explicit CountedFetch(const Span& span) {
    if (!counters_on) return;
    start_ = ticks_now();
    if (uncounted_ticks < kLeastTicks) return;
    uncounted_ticks = 0;
    count_from_here(span);
  }
  void end() const {
    if (counters_on) uncounted_ticks += ticks_now() - start_;
  }

 private:
  static constexpr std::uint64_t kLeastTicks = 500 * kCountsTicks;
  static constinit thread_local std::uint64_t uncounted_ticks;
  std::uint64_t start_ = 0;
};
constinit thread_local std::uint64_t CountedFetch::uncounted_ticks = kLeastTicks;

}  // namespace

BatchScope::BatchScope(const BatchName& name) : batch_(role.batch, name), known_(role.batch_known, true) {}

bool is_between_batches() { return role.loop != nullptr && python_thread.context == nullptr; }

void forget_worker_role() { role = WorkerRole{}; }

py::Object* worker_loop(Call& call) {
  process.worker = true;
  leave_steps();
  const auto number = [&call](int variable) {
    const std::int64_t value = integer_of(role_local(call, variable), 0);
    return static_cast<std::uint64_t>(value < 0 ? 0 : value);
  };
  const Span span = enter<Kind::worker_loop>(number(0), number(1));
  note_worker_loop();
  tell_first_footprint();
  find_collecting();
  const Setting worker(role.loop, static_cast<const Call*>(&call));
  const Setting reset(role.reset, std::uint64_t{0});
  const Setting batch(role.batch_known, false);
  py::Object* result = call.run();
  if (span.generation == process.generation) tell_all_reopened();
  leave(span, how_left(result));
  return result;
}

py::Object* create_fetcher(Call& call) {
  // Workers that persist make a fetcher for each epoch.
  if (is_between_batches()) {
    ++role.reset;
    if (is_limiting_threads()) limit_threads();
  }
  py::Object* result = call.run();
  if (result != nullptr && role.reset == 1 && is_between_batches()) tell_process_start();
  return result;
}

py::Object* fetch(Call& call) {
  const BatchName name = batch_being_fetched();
  py::Object* fetcher = role_local(call, 0);
  if (fetcher == nullptr) return call.run();
  hook_imported_modules();
  const TorchOps operators(name.iterator);
  const Span span = enter<Kind::fetch>(name.iterator, name.reset, name.batch);
  if (operators.spared()) point<Kind::no_operators>();
  const CoreWait core_wait;
  // Of all threads: whether others compute for this one.
  if (core_wait.measures()) point<Kind::process_cpu>(process_cpu_ns());
  const CountedFetch counted(span);
  measure_cpu(span, cpu_ns());
  const Owned dataset(plain_attribute(fetcher, names.dataset));
  const Owned collate(plain_attribute(fetcher, names.collate_fn));
  const Owned iterator(plain_attribute(fetcher, names.dataset_iter));
  keep_datasets_visible(dataset.get());
  FetchContext context(dataset.get(), collate.get(), static_cast<bool>(iterator));
  py::Object* const key = iterator ? nullptr : role_local(call, 1);
  if (key != nullptr) py::api.Py_IncRef(key);
  const Owned asked(key);
  context.key = key;
  context.whole = integer_attribute(fetcher, names.auto_collation, 1) == 0;
  py::Object* result = nullptr;
  {
    const ContextScope scope(context);
    const Setting sample(python_thread.in_sample, false);
    const Setting known(role.batch_known, false);
    result = call.run();
  }
  if (result != nullptr) {
    close_native_collate(context, current_thread());
    // Nothing of Python made it.
    if (context.whole && !context.sized) point<Kind::whole_batch>(length_of_asked(key, result));
  }
  if (span.generation == process.generation) {
    if (core_wait.measures()) point<Kind::process_cpu>(process_cpu_ns());
    core_wait.end();
    counted.end();
  }
  tell_calls_before_end();
  leave(span, how_left(result));
  if (span.generation == process.generation && python_thread.context == nullptr) {
    tell_calls_outside();
    if (result != nullptr) tell_process_facts();  // with an exception pending nothing may be asked of Python
    if (Thread* thread = current_thread()) end_batch(*thread);
  }
  return result;
}

}  // namespace lotus
