// Between the processes: the worker's result queue, its feeder thread, and the receiving end.
#include "batch_message.hpp"
#include "classify.hpp"
#include "handlers.hpp"
#include "iterators.hpp"
#include "recorder.hpp"

namespace lotus {

namespace {

std::uint64_t size_of(py::Object* object) {
  const py::Ssize size = py::api.PyObject_Size(object);
  if (size < 0) py::api.PyErr_Clear();
  return size < 0 ? 0 : static_cast<std::uint64_t>(size);
}

}  // namespace

py::Object* queue_feed(Call& call) {
  const Setting feeder(here.feeder, process.worker);
  return call.run();
}

py::Object* queue_put(Call& call) {
  std::uint64_t batch = 0;
  py::Object* data = nullptr;
  if (here.worker == nullptr || here.context != nullptr || !is_batch(role_local(call, 0), batch, data))
    return call.run();
  const Span span = enter<Kind::put>(batch);
  py::Object* result = call.run();
  leave(span, how_left(result));
  return result;
}

py::Object* pickle_dumps(Call& call) {
  if (!here.feeder || here.serializing) return call.run();
  py::Object* data = nullptr;
  here.feeds_batch = is_batch(role_local(call, 0), here.feeder_batch, data);
  if (!here.feeds_batch) return call.run();
  const Span span = enter<Kind::serialize>(here.feeder_batch);
  const Setting serializing(here.serializing, true);
  here.storage_bytes = 0;
  py::Object* result = call.run();
  if (result != nullptr) point<Kind::bytes>(size_of(result) + here.storage_bytes);
  leave(span, how_left(result));
  return result;
}

// Returns (rebuild, (class, handle, size)): the tensors themselves go through shared memory.
py::Object* reduce_storage(Call& call) {
  py::Object* result = call.run();
  if (!here.serializing || result == nullptr || !py::is_a(result, py::kTuple) ||
      py::api.PyTuple_Size(result) < 2)
    return result;
  py::Object* arguments = py::api.PyTuple_GetItem(result, 1);
  if (!py::is_a(arguments, py::kTuple)) return result;
  std::int64_t bytes = 0;
  for (py::Ssize i = 0; i < py::api.PyTuple_Size(arguments); ++i)
    bytes = integer_of(py::api.PyTuple_GetItem(arguments, i), bytes);
  here.storage_bytes += static_cast<std::uint64_t>(bytes < 0 ? 0 : bytes);
  return result;
}

py::Object* send_bytes(Call& call) {
  if (!here.feeder || !here.feeds_batch || here.serializing) return call.run();
  const Span span = enter<Kind::send>(here.feeder_batch);
  py::Object* result = call.run();
  leave(span, how_left(result));
  if (Thread* thread = current_thread()) end_batch(*thread);
  return result;
}

py::Object* queue_get(Call& call) {
  if (here.getting == nullptr || here.receiving.begun) {
    py::Object* result = call.run();
    // A worker that got no task for seconds: its loader's next epoch may be long in coming.
    if (result == nullptr && here.worker != nullptr && here.context == nullptr) {
      if (Thread* thread = current_thread()) rest(*thread);
    }
    return result;
  }
  Receiving receiving;
  const Span span = enter<Kind::receive>(here.getting->id);
  py::Object* result = nullptr;
  {
    const Setting setting(here.receiving, Receiving{true});
    result = call.run();
    if (span.generation == process.generation) receiving = here.receiving;
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
  Receiving& receiving = here.receiving;
  if (!receiving.begun || receiving.unpickling || result == nullptr || here.getting == nullptr) return result;
  receiving.bytes = size_of(result);
  receiving.unpickling = true;
  receiving.span = enter<Kind::deserialize>(here.getting->id);
  return result;
}

py::Object* rebuild_storage(Call& call) {
  if (here.receiving.unpickling) {
    const std::int64_t bytes = integer_of(role_local(call, 0), 0);
    here.receiving.bytes += static_cast<std::uint64_t>(bytes < 0 ? 0 : bytes);
  }
  return call.run();
}

}  // namespace lotus
