#include "pipeline/process_start.hpp"

#include "python/method_table.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "system/clock.hpp"

namespace lotus {
namespace {

// On CLOCK_MONOTONIC: the clock of spans is not chosen yet when a process begins.
struct ProcessStart {
  std::uint64_t begun_ns = 0;
  std::uint64_t torch_ns = 0;  // 0: PyTorch was there when the process was forked
  std::uint64_t loop_ns = 0;
  std::uint64_t unpickling_ns = 0;  // the last that was unpickled before the loop: the process object
};
constinit ProcessStart own{};

// What is unpickled may unpickle more: the outermost call ends last.
void* time_unpickling(const ReplacedMethod& method, const MethodArguments& arguments) {
  if (process.worker) return method.run(arguments);
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  void* result = method.run(arguments);
  own.unpickling_ns = clock_ns(CLOCK_MONOTONIC) - begin;
  return result;
}

// multiprocessing marks the time in which a process it started gets the main module and its own object.
bool is_being_started(py::Object* modules) {
  py::Object* module = py::api.PyDict_GetItemString(modules, "multiprocessing.process");
  if (module == nullptr) return false;
  const Owned current(plain_attribute(module, names._current_process));
  const Owned mark(current ? plain_attribute(current.get(), names._inheriting) : nullptr);
  return static_cast<bool>(mark);
}

// A server that has not imported PyTorch forks without our knowing: then the kernel says when, in hundredths
// of a second since boot.
std::uint64_t begin_of_process(std::uint64_t now) {
  constexpr std::uint64_t kTick = 10'000'000;  // ns; USER_HZ is 100 everywhere
  const std::uint64_t since_boot = clock_ns(CLOCK_BOOTTIME);
  const std::uint64_t start = process.segment.header->start_time * kTick;
  const std::uint64_t age = since_boot > start ? since_boot - start : 0;
  return now > age && now - age > own.begun_ns + 2 * kTick ? now - age : own.begun_ns;
}

}  // namespace

void note_process_start() { own = {.begun_ns = clock_ns(CLOCK_MONOTONIC)}; }

void note_import_of_torch() {
  own.torch_ns = clock_ns(CLOCK_MONOTONIC);
  py::Object* modules = py::api.PyImport_GetModuleDict();
  if (modules == nullptr || !is_being_started(modules)) return;
  py::Object* pickle = py::api.PyDict_GetItemString(modules, "_pickle");
  const Owned load(pickle != nullptr ? plain_attribute(pickle, names.load) : nullptr);
  MethodDef* definition = load ? method_of(load.get()) : nullptr;
  if (definition != nullptr) replace_method(definition, time_unpickling, 0);
}

void note_worker_loop() { own.loop_ns = clock_ns(CLOCK_MONOTONIC); }

void tell_process_start() {
  if (own.begun_ns == 0 || own.loop_ns == 0 || process.segment.header == nullptr) return;
  const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t begun = begin_of_process(now);
  const std::uint64_t importing = own.torch_ns != 0 ? own.loop_ns - own.torch_ns : 0;
  point<Kind::started>(own.loop_ns > begun ? own.loop_ns - begun : 0, importing, own.unpickling_ns,
                       now - own.loop_ns);
}

}  // namespace lotus
