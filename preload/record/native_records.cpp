#include "record/native_records.hpp"

#include "record/hook_names.hpp"
#include "record/paths.hpp"

namespace lotus {

void write_native(Thread& thread, std::uint64_t now) {
  if (thread.opened_bytes > 0) record_opened(thread, now);
  NativeTotals& native = thread.native;
  while (native.count > 0 && depth_in(native.rows[native.count - 1].key) >= thread.depth) {
    const NativeTotal total = native.rows[--native.count];
    const HookId hook = hook_in(total.key);
    define_hook(hook);
    detail::make_room(thread);
    detail::append<Kind::native>(thread, now, hook, total.calls, total.ticks, total.bytes);
  }
}

}  // namespace lotus
