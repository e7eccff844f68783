#include "native/hooks.hpp"

#include <cstring>

#include "hot.hpp"
#include "native/symbols.hpp"

namespace lotus {
namespace {

struct HookInfo {
  const char* name = nullptr;
  const char* library = nullptr;
};

// The first ones are those of libc, in the order of FileHook.
constinit HookInfo hooks[kMaxHooks] = {{},
#define LOTUS_HOOK(name) {#name, "libc.so.6"},
                                       LOTUS_FILE_HOOKS(LOTUS_HOOK)
#undef LOTUS_HOOK
};
#define LOTUS_HOOK(name) +1
constinit std::uint32_t next_hook = 1 LOTUS_FILE_HOOKS(LOTUS_HOOK);
#undef LOTUS_HOOK

LOTUS_HOT constinit bool defined[kMaxHooks] = {};  // by this process

constinit char names_kept[48 * 1024] = {};
constinit std::size_t names_used = 0;

// A copy that stays; nullptr: no room.
const char* keep(std::string_view text) {
  const std::size_t at = __atomic_fetch_add(&names_used, text.size() + 1, __ATOMIC_RELAXED);
  if (at + text.size() + 1 > sizeof names_kept) return nullptr;
  std::memcpy(names_kept + at, text.data(), text.size());
  return names_kept + at;
}

void define_hook(HookId id) {
  if (defined[id]) [[likely]]
    return;
  const HookInfo& hook = hooks[id];
  defined[id] = define<Kind::hook>(id, std::string_view(hook.name), std::string_view(hook.library));
}

}  // namespace

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path;
}

HookId add_hook(std::string_view name, std::string_view library) {
  constexpr std::size_t kLongest = 200;
  const char* kept_name = keep({name.data(), name.size() < kLongest ? name.size() : kLongest});
  const char* kept_library = keep({library.data(), library.size() < kLongest ? library.size() : kLongest});
  if (kept_name == nullptr || kept_library == nullptr) return 0;
  const std::uint32_t id = __atomic_fetch_add(&next_hook, 1, __ATOMIC_RELAXED);
  if (id >= kMaxHooks) return 0;
  hooks[id].library = kept_library;
  hooks[id].name = kept_name;
  return static_cast<HookId>(id);
}

void forget_hooks() { std::memset(defined, 0, sizeof defined); }

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
