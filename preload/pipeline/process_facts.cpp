#include "pipeline/process_facts.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "native/interpreter_lock.hpp"
#include "python/collecting.hpp"
#include "python/method_table.hpp"
#include "python/objects.hpp"
#include "record/recorder.hpp"
#include "record/reopened.hpp"
#include "system/files.hpp"
#include "system/memory_use.hpp"

namespace lotus {
namespace {

// The counters of the kernel and of Python: 2 µs together, so 0.02 % of a core at most.
constexpr std::uint64_t kCountersPerSecond = 100;
constexpr std::uint64_t kFootprintSeconds = 2;  // between two of them, of 30 µs
// … and of 1 to 3 ms where they say the private memory, too: 0.05 % of the time, and 4 ms.
constexpr std::uint64_t kShareOfLooks = 2000;
constexpr std::uint64_t kFreeLooksNs = 4'000'000;

struct FactsState {
  std::uint32_t generation;
  bool begun;
  std::uint64_t next_counters, next_footprint;  // ticks
  std::uint64_t began_ns, looked_ns;            // when it began; what looks took so far
  std::uint64_t old_collections, lock_waits;
};
constinit FactsState facts{};

std::uint64_t thread_count() {
  char text[1024];
  if (read_file("/proc/self/stat", text, sizeof text) == 0) return UINT64_MAX;
  // The command name, field 2, may hold anything; the fields behind its last parenthesis do not.
  const char* at = std::strrchr(text, ')');
  for (int field = 3; at != nullptr && field <= 20; ++field) at = std::strchr(at + 1, ' ');
  return at != nullptr ? std::strtoull(at, nullptr, 10) : UINT64_MAX;
}

void tell_faults() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return;
  constexpr std::uint64_t kBlock = 512;  // whatever the file system's blocks are
  point<Kind::faults>(usage.ru_minflt, usage.ru_majflt,
                      static_cast<std::uint64_t>(usage.ru_inblock) * kBlock);
}

std::uint64_t collections_in(py::Object* generation) {
  if (!py::is_a(generation, py::kDict)) return 0;
  const std::int64_t count = integer_of(py::api.PyDict_GetItemString(generation, "collections"), 0);
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

// gc.get_stats() as C code: nothing of the program's runs.
void tell_collections() {
  constexpr int kNoArguments = 4;  // METH_NOARGS
  py::Object* gc = loaded_module("gc");
  if (gc == nullptr) return;
  static constinit py::Object* name = nullptr;
  if (name == nullptr) name = py::api.PyUnicode_InternFromString("get_stats");
  const Owned function(name != nullptr ? plain_attribute(gc, name) : nullptr);
  const MethodDef* method = function ? method_of(function.get()) : nullptr;
  if (method == nullptr || (method->flags & 0xff) != kNoArguments) return;
  const Owned stats(
      static_cast<py::Object*>(method->method(gc, nullptr, nullptr, nullptr, nullptr, nullptr)));
  if (!stats || !py::is_a(stats.get(), py::kList) || py::list_of(stats.get())->size < 3)
    return py::api.PyErr_Clear();
  py::Object* const* generations = py::list_of(stats.get())->items;
  const std::uint64_t old = collections_in(generations[2]);
  if (facts.begun && old == facts.old_collections) return;
  facts.old_collections = old;
  point<Kind::collections>(collections_in(generations[0]), collections_in(generations[1]), old);
}

void tell_interpreter_lock() {
  if (!facts.begun) watch_interpreter_lock();
  const InterpreterLockWaits waits = interpreter_lock_waits();
  if (facts.begun && waits.count == facts.lock_waits) return;
  facts.lock_waits = waits.count;
  point<Kind::interpreter_lock>(waits.count, waits.ticks);
}

void tell_footprint() {
  std::uint64_t bytes = UINT64_MAX;
  const std::uint64_t age = clock_ns(CLOCK_MONOTONIC) - facts.began_ns;
  if (facts.looked_ns <= age / kShareOfLooks + kFreeLooksNs) {
    const std::uint64_t before = cpu_ns();
    bytes = private_memory();
    facts.looked_ns += cpu_ns() - before;
  }
  point<Kind::footprint>(thread_count(), resident_memory(), bytes);
}

}  // namespace

void tell_first_footprint() {
  if (process.generation == 0) return;  // not forked: what it owns is not known without a look
  const int saved = errno;
  point<Kind::footprint>(UINT64_MAX, resident_memory(), std::uint64_t{0});
  errno = saved;
}

void tell_process_facts() {
  const std::uint64_t now = ticks_now();
  if (facts.generation != process.generation) facts = FactsState{};
  if (now < facts.next_counters) return;
  const int saved = errno;
  const std::uint64_t second = ticks_per_second();
  if (!facts.begun) {
    facts.generation = process.generation;
    facts.began_ns = clock_ns(CLOCK_MONOTONIC);
    facts.next_footprint = now + second;  // pools of threads are there after the first batches
  }
  facts.next_counters = now + second / kCountersPerSecond;
  tell_faults();
  find_collecting();
  tell_collections();
  tell_interpreter_lock();
  tell_reopened();
  if (now >= facts.next_footprint) {
    facts.next_footprint = now + kFootprintSeconds * second;
    tell_footprint();
  }
  facts.begun = true;
  errno = saved;
}

}  // namespace lotus
