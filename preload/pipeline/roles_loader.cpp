// The training process's side of the DataLoader: iterators, waiting, receiving, consuming, pinning.
#include "pipeline/roles_loader.hpp"

#include "native/methods.hpp"
#include "native/torch_ops.hpp"
#include "operators/steps.hpp"
#include "pipeline/batch_message.hpp"
#include "pipeline/dataset_calls.hpp"
#include "pipeline/handlers.hpp"
#include "pipeline/pauses.hpp"
#include "pipeline/roles_worker.hpp"
#include "pipeline/training_threads.hpp"
#include "pipeline/trial.hpp"
#include "python/call_costs.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "record/reopened.hpp"
#include "record/setting.hpp"

namespace lotus {
namespace {

struct LoaderRole {
  Iterator* getting{};           // inside _get_data, or the pin thread's iterator
  bool starting{};               // inside an iterator's __init__
  const Call* pin_loop{};        // the frame of _pin_memory_loop
  const Call* pin_step{};        // the frame of its do_one_step
  bool pinned{};                 // this step pinned a batch, …
  std::uint64_t pinned_batch{};  // … this one
};
constinit thread_local LoaderRole role{};

std::uint64_t non_negative(std::int64_t value) { return value < 0 ? 0 : static_cast<std::uint64_t>(value); }

std::uint64_t counter(py::Object* self, py::Object* name) {
  return non_negative(integer_attribute(self, name, 0));
}

// Where a BytesIO stands; 0 for anything else.
std::uint64_t position_in(py::Object* file) {
  if (file == nullptr || std::string_view(py::type_name(py::type_of(file))) != "_io.BytesIO") return 0;
  const Owned tell(py::api.PyObject_GetAttr(file, names.tell));
  const Owned position(tell ? py::api.PyObject_CallObject(tell.get(), nullptr) : nullptr);
  return non_negative(integer_of(position.get(), 0));
}

// The sampler is asked for the samples of a batch; before batch 0 its iterator is made, too.
py::Object* run_sampler(const Call& call, const Iterator& iterator, std::uint64_t batch) {
  const Span span = enter<Kind::indices>(iterator.id, iterator.reset, batch);
  py::Object* result = call.run();
  leave(span, how_left(result));
  return result;
}

py::Object* iterator_init(Call& call, py::Object* self, py::Object* loader) {
  Iterator* known = find_iterator(self);
  // The base class's part, in which only iter(sampler) may take long.
  if (known != nullptr && known->initialising) return run_sampler(call, *known, 0);
  Iterator* iterator = add_iterator(self, loader);
  iterator->initialising = true;
  watch_dataset(loader);
  hook_imported_modules();  // forked workers inherit it
  find_torch_ops();         // as they do this
  const std::uint64_t id = iterator->id;
  const Span span = enter<Kind::start_workers>(id);
  const Setting starting(role.starting, true);
  py::Object* result = call.run();
  if (span.generation != process.generation) return result;
  iterator = find_iterator(self);
  if (iterator != nullptr && iterator->id == id) {
    iterator->initialising = false;
    if (result != nullptr) define_workers(*iterator, self);
  }
  leave(span, how_left(result));
  return result;
}

}  // namespace

const Iterator* iterator_of_get() { return role.getting; }

void forget_loader_role() { role = LoaderRole{}; }

// DataLoader.__init__(self, dataset, …) and the iterators' __init__(self, loader): told apart by parameter.
py::Object* loader_init(Call& call) {
  py::Object* self = role_local(call, 0);
  py::Object* loader = call.info->local[1] == 1 ? role_local(call, 1) : nullptr;
  if (self != nullptr && loader != nullptr) return iterator_init(call, self, loader);
  if (self != nullptr && call.info->local[2] == 1) {
    add_loader(self);
    if (is_trying()) change_loader(call);
  }
  return call.run();
}

// For spawn and forkserver: what a worker needs is pickled into a BytesIO, and written to its pipe from
// there.
py::Object* pickle_process(Call& call) {
  if (!role.starting) return call.run();
  py::Object* file = role_local(call, 0);
  const std::uint64_t before = position_in(file);
  const Span span = enter<Kind::pickle_process>();
  py::Object* result = call.run();
  if (result != nullptr && span.generation == process.generation)
    point<Kind::bytes>(position_in(file) - before);
  leave(span, how_left(result));
  return result;
}

py::Object* iterator_reset(Call& call) {
  py::Object* self = role_local(call, 0);
  Iterator* iterator = self != nullptr ? find_iterator(self) : nullptr;
  if (iterator == nullptr) return call.run();
  // Part of the constructor, at its end: the workers exist. The constructor itself may not have been seen as
  // a whole: from 3.12 CPython inlines a class's __init__ into the caller, past the frame evaluator, once the
  // call is hot.
  const bool first = integer_of(role_local(call, 1), 0) != 0;
  if (first) define_workers(*iterator, self);
  if (first || iterator->initialising || iterator->resetting) {
    const bool of_base_class = call.info->local[2] < 0;  // does little more than iter(sampler)
    return of_base_class ? run_sampler(call, *iterator, 0) : call.run();
  }
  ++iterator->reset;
  define_epoch(*iterator);
  const Setting resetting(iterator->resetting, true);
  return call.run();
}

py::Object* iterator_next(Call& call) {
  py::Object* self = role_local(call, 0);
  const Iterator* iterator = self != nullptr ? find_iterator(self) : nullptr;
  if (iterator == nullptr) return call.run();
  const std::uint64_t id = iterator->id;
  step_by_loader(call.state, id);
  const Span span = enter<Kind::next>(id, iterator->reset);
  point<Kind::process_cpu>(process_cpu_ns());
  py::Object* result = call.run();
  if (span.generation == process.generation) {
    point<Kind::process_cpu>(process_cpu_ns());
    if (const std::uint64_t steps = steps_of_others(); steps > 0) point<Kind::others_steps>(steps);
  }
  const Kind left = how_left(result);
  leave(span, left);
  if (span.generation == process.generation) {
    tell_calls_outside();
    if (result == nullptr && left != Kind::leave_error && iterator->id == id) note_exhausted(*iterator);
    if (result == nullptr)
      tell_all_reopened();  // of this process's own batches, which may have been the last
    if (Thread* thread = current_thread()) result != nullptr ? end_batch(*thread) : rest(*thread);
  }
  return result;
}

py::Object* next_data(Call& call) {
  py::Object* self = role_local(call, 0);
  const Iterator* iterator = self != nullptr ? find_iterator(self) : nullptr;
  if (iterator == nullptr) return call.run();
  const Span span = enter<Kind::wait>(iterator->id, iterator->reset);
  // With num_workers=0 the fetch happens right here, and the batches are counted by the iterator.
  const BatchName name{iterator->id, iterator->reset, counter(self, names._num_yielded)};
  const BatchScope batch(name);
  py::Object* result = call.run();
  leave(span, how_left(result));
  return result;
}

py::Object* get_data(Call& call) {
  py::Object* self = role_local(call, 0);
  Iterator* iterator = self != nullptr ? find_iterator(self) : nullptr;
  if (iterator == nullptr) return call.run();
  const Span span = enter<Kind::get>(iterator->id, iterator->reset);
  py::Object* result = nullptr;
  {
    const Setting getting(role.getting, iterator);
    result = call.run();
  }
  std::uint64_t index = 0;
  py::Object* data = nullptr;
  if (is_batch(result, index, data)) {
    iterator->received_batch = index;
    iterator->received_data = data;
    iterator->received_part = first_part_of(data);
    const std::uint64_t outstanding = counter(self, names._tasks_outstanding);
    point<Kind::received>(iterator->id, iterator->reset, index, counter(self, names._rcvd_idx),
                          outstanding > 0 ? outstanding - 1 : 0);
  }
  leave(span, how_left(result));
  return result;
}

py::Object* process_data(Call& call) {
  py::Object* self = role_local(call, 0);
  Iterator* iterator = self != nullptr ? find_iterator(self) : nullptr;
  if (iterator == nullptr) return call.run();
  // Just delivered (in order, or in_order=False), or taken from those that came too early.
  const py::Object* const data = role_local(call, 1);
  const bool just_received =
      data != nullptr && (iterator->received_data == data || iterator->received_part == data);
  const std::uint64_t id = iterator->id;
  const std::uint64_t expected = counter(self, names._rcvd_idx);
  const std::uint64_t counted = iterator->counted == CountsConsumed::before && expected > 0 ? 1 : 0;
  const std::uint64_t batch = just_received ? iterator->received_batch : expected - counted;
  const Span span = enter<Kind::consume>(id, iterator->reset, batch);
  py::Object* result = call.run();
  if (result != nullptr && span.generation == process.generation && iterator->id == id &&
      iterator->counted == CountsConsumed::unknown)
    iterator->counted =
        counter(self, names._rcvd_idx) > expected ? CountsConsumed::inside : CountsConsumed::before;
  leave(span, how_left(result));
  return result;
}

py::Object* try_put_index(Call& call) {
  py::Object* self = role_local(call, 0);
  const Iterator* iterator = self != nullptr ? find_iterator(self) : nullptr;
  if (iterator == nullptr) return call.run();
  const std::uint64_t before = counter(self, names._send_idx);
  py::Object* result = call.run();
  if (result != nullptr && counter(self, names._send_idx) > before)
    point<Kind::queued>(iterator->id, iterator->reset, before, counter(self, names._tasks_outstanding));
  return result;
}

py::Object* next_index(Call& call) {
  py::Object* self = role_local(call, 0);
  const Iterator* iterator = self != nullptr ? find_iterator(self) : nullptr;
  if (iterator == nullptr) return call.run();
  // Batches are counted as they are sent to workers; without workers, as they are delivered.
  const std::int64_t sent = integer_attribute(self, names._send_idx, -1);
  return run_sampler(call, *iterator, sent >= 0 ? non_negative(sent) : counter(self, names._num_yielded));
}

py::Object* pin_memory_loop(Call& call) {
  const Setting loop(role.pin_loop, static_cast<const Call*>(&call));
  const Setting getting(role.getting, find_iterator_by_queue(role_local(call, 0)));
  return call.run();
}

py::Object* pin_step(Call& call) {
  if (role.pin_loop == nullptr) return call.run();
  const Setting step(role.pin_step, static_cast<const Call*>(&call));
  const Setting pinned(role.pinned, false);
  py::Object* result = call.run();
  if (result != nullptr && role.pinned && role.getting != nullptr)
    point<Kind::pin_queued>(role.getting->id, role.getting->reset, role.pinned_batch);
  // It returns as well when nothing came for seconds.
  if (Thread* thread = current_thread()) role.pinned ? end_batch(*thread) : rest(*thread);
  return result;
}

py::Object* pin_memory(Call& call) {
  if (role.pin_step == nullptr || role.getting == nullptr) return call.run();
  py::Object* index = role_local(*role.pin_step, 0);
  if (!is_batch(index, role_local(*role.pin_step, 1))) return call.run();
  const Iterator& iterator = *role.getting;
  role.pinned = true;
  role.pinned_batch = non_negative(integer_of(index, 0));
  const Span span = enter<Kind::pin>(iterator.id, iterator.reset, role.pinned_batch);
  py::Object* result = nullptr;
  {
    const Setting inner(role.pin_step, static_cast<const Call*>(nullptr));  // it recurses into containers
    result = call.run();
  }
  leave(span, how_left(result));
  return result;
}

}  // namespace lotus
