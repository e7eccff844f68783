// Between the processes: the worker's result queue, its feeder thread, and the receiving end.
#include "pipeline/batch_message.hpp"
#include "pipeline/feeder.hpp"
#include "pipeline/handlers.hpp"
#include "pipeline/pauses.hpp"
#include "pipeline/roles_loader.hpp"
#include "pipeline/roles_worker.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "record/setting.hpp"

namespace lotus {
namespace {

// A Queue.get that is under way, and what it turned into.
struct Receiving {
  bool begun = false;
  bool unpickling = false;
  Span span{};
  std::uint64_t bytes = 0;
};

struct TransferRole {
  Receiving receiving{};  // inside Queue.get of the result queue
  bool feeder{};          // a queue's feeder thread in a worker
  bool feeds_batch{};     // feeder_batch is what it sends
  std::uint64_t feeder_batch{};
  bool serializing{};
  std::uint64_t storages{}, storage_bytes{};  // serialized so far
};
constinit thread_local TransferRole role{};

std::uint64_t size_of(py::Object* object) {
  const py::Ssize size = py::api.PyObject_Size(object);
  if (size < 0) py::api.PyErr_Clear();
  return size < 0 ? 0 : static_cast<std::uint64_t>(size);
}

}  // namespace

void forget_transfer_role() {
  role = TransferRole{};
  batches_in_feeder = 0;
}

py::Object* queue_feed(Call& call) {
  const Setting feeder(role.feeder, process.worker);
  return call.run();
}

py::Object* queue_put(Call& call) {
  std::uint64_t batch = 0;
  py::Object* data = nullptr;
  look_for_work_of_parent();
  if (!is_between_batches() || !is_batch(role_local(call, 0), batch, data)) return call.run();
  const Span span = enter<Kind::put>(batch);
  ++batches_in_feeder;
  py::Object* result = call.run();
  if (result == nullptr) --batches_in_feeder;
  leave(span, how_left(result));
  return result;
}

py::Object* pickle_dumps(Call& call) {
  if (!role.feeder || role.serializing) return call.run();
  py::Object* data = nullptr;
  role.feeds_batch = is_batch(role_local(call, 0), role.feeder_batch, data);
  if (!role.feeds_batch) return call.run();
  const Span span = enter<Kind::serialize>(role.feeder_batch);
  const Setting serializing(role.serializing, true);
  role.storages = role.storage_bytes = 0;
  py::Object* result = call.run();
  if (result != nullptr) {
    point<Kind::bytes>(size_of(result) + role.storage_bytes);
    point<Kind::storages>(role.storages, role.storage_bytes);
  }
  leave(span, how_left(result));
  return result;
}

// Returns (rebuild, (class, handle, size)): the tensors themselves go through shared memory.
py::Object* reduce_storage(Call& call) {
  py::Object* result = call.run();
  if (!role.serializing || result == nullptr || !py::is_a(result, py::kTuple) ||
      py::api.PyTuple_Size(result) < 2)
    return result;
  py::Object* arguments = py::api.PyTuple_GetItem(result, 1);
  if (!py::is_a(arguments, py::kTuple)) return result;
  std::int64_t bytes = 0;
  for (py::Ssize i = 0; i < py::api.PyTuple_Size(arguments); ++i)
    bytes = integer_of(py::api.PyTuple_GetItem(arguments, i), bytes);
  ++role.storages;
  role.storage_bytes += static_cast<std::uint64_t>(bytes < 0 ? 0 : bytes);
  return result;
}

py::Object* send_bytes(Call& call) {
  if (!role.feeder || !role.feeds_batch || role.serializing) return call.run();
  const Span span = enter<Kind::send>(role.feeder_batch);
  py::Object* result = call.run();
  leave(span, how_left(result));
  if (Thread* thread = current_thread()) end_batch(*thread);
  --batches_in_feeder;
  return result;
}

py::Object* queue_get(Call& call) {
  const Iterator* const iterator = iterator_of_get();
  if (iterator == nullptr || role.receiving.begun) {
    py::Object* result = call.run();
    // A worker that got no task for seconds: its loader's next epoch may be long in coming.
    if (result == nullptr && is_between_batches()) {
      if (Thread* thread = current_thread()) rest(*thread);
    }
    return result;
  }
  Receiving receiving;
  const Span span = enter<Kind::receive>(iterator->id);
  py::Object* result = nullptr;
  {
    const Setting setting(role.receiving, Receiving{true});
    result = call.run();
    if (span.generation == process.generation) receiving = role.receiving;
  }
  if (receiving.unpickling) {
    if (result != nullptr) point<Kind::bytes>(receiving.bytes);
    std::uint64_t batch = 0;
    py::Object* data = nullptr;
    const bool other = result != nullptr && !is_batch(result, batch, data);
    leave(receiving.span, other ? Kind::leave_empty : how_left(result));
  }
  // A poll that timed out raises queue.Empty: nothing came.
  leave(span, result == nullptr ? Kind::leave_empty : Kind::leave);
  return result;
}

// What follows the arrival of the bytes, up to the end of Queue.get, is unpickling.
py::Object* recv_bytes(Call& call) {
  py::Object* result = call.run();
  if (result != nullptr) look_for_work_of_parent();
  Receiving& receiving = role.receiving;
  if (!receiving.begun || receiving.unpickling || result == nullptr || iterator_of_get() == nullptr)
    return result;
  receiving.bytes = size_of(result);
  receiving.unpickling = true;
  receiving.span = enter<Kind::deserialize>(iterator_of_get()->id);
  return result;
}

py::Object* rebuild_storage(Call& call) {
  if (role.receiving.unpickling) {
    const std::int64_t bytes = integer_of(role_local(call, 0), 0);
    role.receiving.bytes += static_cast<std::uint64_t>(bytes < 0 ? 0 : bytes);
  }
  return call.run();
}

}  // namespace lotus
