#include "record/native_records.hpp"

#include "record/hook_names.hpp"
#include "record/paths.hpp"

namespace lotus {
namespace {

// The newest total. Not inlined: most spans have none, and would save registers for it.
[[gnu::noinline]] void write_total(Thread& thread, std::uint64_t now) {
  const NativeTotal total = thread.native.rows[--thread.native.count];
  const HookId hook = hook_in(total.key);
  define_hook(hook);
  detail::make_room(thread);
  detail::append<Kind::native>(thread, now, hook, total.calls, total.ticks, total.bytes);
}

}  // namespace

void write_native(Thread& thread, std::uint64_t now) {
  if (thread.opened_bytes > 0) record_opened(thread, now);
  const NativeTotals& native = thread.native;
  while (native.count > 0 && depth_in(native.rows[native.count - 1].key) >= thread.depth)
    write_total(thread, now);
}

}  // namespace lotus
