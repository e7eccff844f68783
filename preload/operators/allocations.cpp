// Memory that PyTorch's CPU allocator gives out: c10::alloc_cpu and c10::free_cpu, interposed.
#include <malloc.h>

#include "native/interposed.hpp"
#include "operators/live_bytes.hpp"
#include "operators/step_lane.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

// Of the one libc10 of the process, which is never unloaded.
constinit AnyFunction real_alloc = nullptr, real_free = nullptr;

AnyFunction find_real(AnyFunction& real, Hooked function, const Caller& from) {
  AnyFunction found = __atomic_load_n(&real, __ATOMIC_ACQUIRE);
  if (found != nullptr) [[likely]]
    return found;
  found = reinterpret_cast<AnyFunction>(bind_for_caller(from.address, kHookRows[function].name, from.ours));
  const Loaded library = found != nullptr ? find_loaded(reinterpret_cast<const void*>(found)) : Loaded{};
  if (library && imports_symbol(library, "posix_memalign")) live_bytes_known = true;
  __atomic_store_n(&real, found, __ATOMIC_RELEASE);
  return found;
}

// What the allocator in use says: of glibc, or of one that is preloaded in its place.
std::uint64_t usable(Word address) {
  return live_bytes_known ? malloc_usable_size(reinterpret_cast<void*>(address)) : 0;
}

struct allocates {
  template <Hooked F>
  static Word call(const Caller& from, Word bytes) {
    const AnyFunction real = find_real(real_alloc, F, from);
    if (real == nullptr) return 0;
    const Word address = call_function(real, bytes);  // throws where there is no memory
    if (address == 0) return 0;
    __atomic_fetch_add(&live_tensor_bytes, usable(address), __ATOMIC_RELAXED);
    if (records_step()) [[unlikely]]
      record_allocated(address, bytes);
    return address;
  }
};

struct releases {
  template <Hooked F>
  static Word call(const Caller& from, Word address) {
    const AnyFunction real = find_real(real_free, F, from);
    if (real == nullptr) return 0;
    if (address != 0) {
      const std::uint64_t bytes = usable(address);
      __atomic_fetch_sub(&live_tensor_bytes, bytes, __ATOMIC_RELAXED);
      if (records_step()) [[unlikely]]
        record_released(address, bytes);
    }
    return call_function(real, address);
  }
};

}  // namespace

LOTUS_INTERPOSE(LOTUS_TORCH_HOOKS)

}  // namespace lotus
