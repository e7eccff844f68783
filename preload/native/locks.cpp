#include "native/locks.hpp"

#include <iterator>

#include "native/hooks.hpp"
#include "python/method_table.hpp"
#include "python/objects.hpp"
#include "system/files.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

struct LockType {
  const char* module;
  const char* type;  // an attribute of the module
  const char* name;  // of the hook, as people know it; lock_hooks.hpp of the analyzer has the same
};
constexpr LockType kLockTypes[] = {
    {"_thread", "LockType", "threading.Lock"},
    {"_thread", "RLock", "threading.RLock"},
    {"_multiprocessing", "SemLock", "multiprocessing.Lock"},
};
constexpr const char* kAcquiring[] = {"acquire", "__enter__"};
constinit bool lock_hooked[std::size(kLockTypes)] = {};

// Most locks are free: only waits are recorded, of which there are few.
constexpr std::uint64_t kLeastPerSecond = 10'000;  // 100 µs
constinit std::uint64_t least_wait = 0;            // ticks

void* acquire_lock(const ReplacedMethod& method, const MethodArguments& arguments) {
  Thread* thread = counting_thread();
  if (thread == nullptr || WaitsForNoLock::is_so()) return method.run(arguments);
  const std::uint64_t begin = ticks_now();
  void* result = method.run(arguments);
  const std::uint64_t took = ticks_now() - begin;
  if (took < least_wait) [[likely]]
    return result;
  thread = counting_thread();
  if (thread != nullptr) count_return(count_call(*thread, static_cast<HookId>(method.data)), took, 0);
  return result;
}

void hook_lock_type(const LockType& row, py::Object* type) {
  for (const char* name : kAcquiring) {
    const Owned key(py::api.PyUnicode_InternFromString(name));
    if (!key) return;
    py::Object* callable = py::api._PyType_Lookup(reinterpret_cast<py::Type*>(type), key.get());
    MethodDef* definition = callable != nullptr ? method_of(callable) : nullptr;
    if (definition == nullptr) continue;
    const Loaded library = find_loaded(reinterpret_cast<const void*>(original_of(definition)));
    const std::string_view file = library.path().empty() ? "python" : base_name(library.path());
    if (const HookId id = add_hook(row.name, file)) replace_method(definition, acquire_lock, id);
  }
}

}  // namespace

constinit thread_local bool WaitsForNoLock::waiting = false;

void hook_locks() {
  py::Object* modules = py::api.PyImport_GetModuleDict();
  if (modules == nullptr || process.off) return;
  least_wait = ticks_per_second() / kLeastPerSecond;
  for (std::size_t row = 0; row < std::size(kLockTypes); ++row) {
    py::Object* module =
        lock_hooked[row] ? nullptr : py::api.PyDict_GetItemString(modules, kLockTypes[row].module);
    if (module == nullptr) continue;
    lock_hooked[row] = true;
    const Owned key(py::api.PyUnicode_InternFromString(kLockTypes[row].type));
    const Owned type(key ? plain_attribute(module, key.get()) : nullptr);
    if (type) hook_lock_type(kLockTypes[row], type.get());
  }
}

}  // namespace lotus
