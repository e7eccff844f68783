// Making batches: the worker's loop and fetch, in a worker process or (num_workers=0) in the training
// process.
#include "classify.hpp"
#include "handlers.hpp"
#include "names.hpp"
#include "native/methods.hpp"
#include "native/torch_ops.hpp"
#include "pipeline.hpp"
#include "recorder.hpp"

namespace lotus {
namespace {

// Which batch is being fetched: what the innermost loader of this thread says, else the worker's loop.
BatchName batch_being_fetched() {
  if (here.batch_known) return here.batch;
  if (here.worker == nullptr) return {};
  const std::int64_t index = integer_of(role_local(*here.worker, 2), 0);
  // The first create_fetcher of a worker begins epoch 0.
  const std::uint64_t reset = here.worker_reset > 0 ? here.worker_reset - 1 : 0;
  return {0, reset, static_cast<std::uint64_t>(index < 0 ? 0 : index)};
}

// A collate function without Python frame ran from the last sample's end to here.
void close_native_collate(const Context& context, Thread* thread) {
  if (!context.sampled || context.collate == nullptr || thread == nullptr) return;
  if (py::is_exactly(context.collate, py::api.PyFunction_Type)) return;
  const std::uint32_t definition = definition_of_native(context.collate, context.collate, OpRole::collate);
  const Span span = enter_at<Kind::op>(*thread, context.samples_end, definition);
  leave(span, Kind::leave);
}

// How long a fetch waits for a core: tells sleeping from competing with other programs. Two reads would be
// felt in short fetches: they are made where this thread's last one was long.
class CoreWait {
 public:
  CoreWait()
      : before_(last_fetch_ticks * kLongPerSecond > ticks_per_second() ? core_wait_ns() : UINT64_MAX),
        start_(ticks_now()) {}
  // The fetch is over, its span still open.
  void end() const {
    last_fetch_ticks = ticks_now() - start_;
    if (before_ == UINT64_MAX) return;
    const std::uint64_t after = core_wait_ns();
    if (after != UINT64_MAX && after >= before_) point<Kind::core_wait>(after - before_);
  }

 private:
  static constexpr std::uint64_t kLongPerSecond = 40;  // 25 ms
  static constinit thread_local std::uint64_t last_fetch_ticks;
  std::uint64_t before_, start_;
};
constinit thread_local std::uint64_t CoreWait::last_fetch_ticks = 0;

}  // namespace

py::Object* worker_loop(Call& call) {
  process.worker = true;
  const auto number = [&call](int variable) {
    const std::int64_t value = integer_of(role_local(call, variable), 0);
    return static_cast<std::uint64_t>(value < 0 ? 0 : value);
  };
  const Span span = enter<Kind::worker_loop>(number(0), number(1));
  const Setting worker(here.worker, static_cast<const Call*>(&call));
  const Setting reset(here.worker_reset, std::uint64_t{0});
  const Setting batch(here.batch_known, false);
  py::Object* result = call.run();
  leave(span, how_left(result));
  return result;
}

py::Object* create_fetcher(Call& call) {
  // Workers that persist make a fetcher for each epoch.
  if (here.worker != nullptr && here.context == nullptr) ++here.worker_reset;
  return call.run();
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
  measure_cpu(span, cpu_ns());
  const Owned dataset(plain_attribute(fetcher, names.dataset));
  const Owned collate(plain_attribute(fetcher, names.collate_fn));
  const Owned iterator(plain_attribute(fetcher, names.dataset_iter));
  keep_datasets_visible(dataset.get());
  Context context;
  context.kind = Context::Kind::fetch;
  context.self = dataset.get();
  context.collate = collate.get();
  context.iterable = static_cast<bool>(iterator);
  py::Object* result = nullptr;
  {
    const ContextScope scope(context);
    const Setting sample(here.in_sample, false);
    const Setting known(here.batch_known, false);
    result = call.run();
  }
  if (result != nullptr) close_native_collate(context, current_thread());
  if (span.generation == process.generation) core_wait.end();
  leave(span, how_left(result));
  if (span.generation == process.generation && here.context == nullptr) {
    if (Thread* thread = current_thread()) end_batch(*thread);
  }
  return result;
}

}  // namespace lotus
