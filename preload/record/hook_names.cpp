#include "record/hook_names.hpp"

#include <cstring>

#include "record/definition_ring.hpp"
#include "system/hot.hpp"

namespace lotus {

LOTUS_HOT constinit bool hook_defined[kMaxHooks] = {};

namespace {

constinit const HookName* first_hooks = nullptr;  // numbered from 1
constinit std::uint32_t first_count = 0;
constinit HookName hooks[kMaxHooks] = {};  // the others, by number
constinit std::uint32_t next_hook = 1;

constinit char names_kept[48 * 1024] = {};
constinit std::size_t names_used = 0;

// A copy that stays; nullptr: no room.
const char* keep(std::string_view text) {
  const std::size_t at = __atomic_fetch_add(&names_used, text.size() + 1, __ATOMIC_RELAXED);
  if (at + text.size() + 1 > sizeof names_kept) return nullptr;
  std::memcpy(names_kept + at, text.data(), text.size());
  return names_kept + at;
}

}  // namespace

void add_first_hooks(const HookName* rows, std::uint32_t count) {
  first_hooks = rows;
  first_count = count;
  next_hook = count + 1;
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

void send_hook(HookId id) {
  const HookName& hook = id <= first_count ? first_hooks[id - 1] : hooks[id];
  hook_defined[id] = send<Kind::hook>(id, std::string_view(hook.name), std::string_view(hook.library));
}

void forget_hooks() { std::memset(hook_defined, 0, sizeof hook_defined); }

}  // namespace lotus
