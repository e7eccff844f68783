#include "python/cpython.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "python/interpreter.hpp"
#include "system/hot.hpp"

namespace lotus::py {

LOTUS_HOT constinit Api api{};
LOTUS_HOT constinit const Layout* layout = nullptr;
LOTUS_HOT constinit bool free_threaded = false;
LOTUS_HOT constinit std::ptrdiff_t header_more = 0;

namespace {

// Offsets: struct _frame (3.9, 3.10), struct _PyInterpreterFrame (from 3.11) of each version's headers.
// From 3.14 on both slots are _PyStackRef: the two low bits are a tag.
constexpr Layout kLayouts[] = {
    // minor, code, locals, function, mask, cells made before, code extra, hooked stack, function version
    {9, 32, 360, -1, ~std::uintptr_t{0}, true, 144, 0, 0},
    {10, 32, 352, -1, ~std::uintptr_t{0}, true, 144, 0, 0},
    {11, 32, 72, 0, ~std::uintptr_t{0}, false, 176, 512 * 1024, 128},
    {12, 0, 72, 16, ~std::uintptr_t{0}, false, 184, 128 * 1024, 0},
    {13, 0, 72, 16, ~std::uintptr_t{0}, false, 192, 512 * 1024, 0},
    {14, 0, 80, 16, ~std::uintptr_t{3}, false, 200, 512 * 1024, 0},
    {15, 0, 80, 16, ~std::uintptr_t{3}, false, 200, 512 * 1024, 0},
};

template <class Target>
bool find_either(Target& target, const char* name, const char* other) {
  return find(target, name) || (other != nullptr && find(target, other));
}

const Layout* layout_of(const char* version) {
  if (std::strncmp(version, "3.", 2) != 0) return nullptr;
  const long minor = std::strtol(version + 2, nullptr, 10);
  for (const auto& row : kLayouts)
    if (row.minor == minor) return &row;
  return nullptr;
}

// A debug build lays objects out as others do. Its frames take more of the C stack, and 3.12 and 3.13 allow
// less nesting in it. A free-threaded one has objects with a longer header; frames are no objects.
constinit Layout layout_of_this_build{};
constexpr std::uintptr_t kHookedStackOfDebug = 128 * 1024;

const Layout* layout_of_build(const Layout& of_version) {
  const bool counts_calls = of_version.minor == 12 || of_version.minor == 13;
  const bool less_stack = counts_calls && api.PySys_GetObject("gettotalrefcount") != nullptr;
  layout_of_this_build = of_version;
  layout_of_this_build.code_extra += header_more;
  if (less_stack) layout_of_this_build.hooked_stack = kHookedStackOfDebug;
  return &layout_of_this_build;
}

// Thread id, flags and lock of an object, and its second count of references, where a count is elsewhere.
constexpr std::ptrdiff_t kHeaderMoreOfFreeThreaded = 16;
// Later ones keep a frame's variables, and the code that each thread runs, in other ways.
constexpr int kOnlyFreeThreadedMinor = 13;

const char* refusal_of_free_threaded(int minor) {
  static constinit char text[64] = "";
  if (minor == kOnlyFreeThreadedMinor) return nullptr;
  std::snprintf(text, sizeof text, "free-threaded Python 3.%d is not supported", minor);
  return text;
}

Object* allocate(Type* type, Ssize items) { return api.PyType_GenericAlloc(type, items); }

constexpr std::uint32_t kFirstVersion = 0xf0000000;  // CPython counts up from 1
constinit std::uint32_t next_version = kFirstVersion;

}  // namespace

void keep_visible(Object* function) {
  if (layout->function_version == 0 || function == nullptr || !is_exactly(function, api.PyFunction_Type))
    return;
  std::uint32_t version = 0;
  char* target = reinterpret_cast<char*>(function) + layout->function_version;
  std::memcpy(&version, target, sizeof version);
  if (version >= kFirstVersion || next_version == 0) return;
  std::memcpy(target, &next_version, sizeof next_version);
  ++next_version;
}

void keep_calls_visible(Type* type) {
  using Allocator = Object* (*)(Type*, Ssize);
  constexpr int kFirstMinor = 12;
  constexpr std::ptrdiff_t kAllocator = 38;  // tp_alloc, at the same place from 3.9 to 3.15
  // A free-threaded 3.13 runs no calls in their caller's loop.
  if (layout->minor < kFirstMinor || free_threaded || dictionary_of(type) == nullptr) return;
  auto& allocator = const_cast<Allocator&>(word_of<Allocator>(type, kAllocator));
  if (allocator != api.PyType_GenericAlloc) return;
  allocator = allocate;
  api.PyType_Modified(type);
}

// From 3.14 on, a slot that owns no reference says so in its lowest bit; one with an immortal object owns
// none.
void set_local(Frame* frame, int index, Object* value) {
  auto* slot =
      reinterpret_cast<std::uintptr_t*>(reinterpret_cast<char*>(frame) + layout->frame_locals) + index;
  const std::uintptr_t owned_elsewhere = ~layout->pointer_mask & 1;
  const auto count = [value] { return *reinterpret_cast<const volatile std::uint32_t*>(value); };
  const std::uint32_t before = owned_elsewhere != 0 ? count() : 0;
  api.Py_IncRef(value);
  const bool immortal = owned_elsewhere != 0 && count() == before;
  const std::uintptr_t old = *slot;
  *slot = reinterpret_cast<std::uintptr_t>(value) | (immortal ? owned_elsewhere : 0);
  if ((old & owned_elsewhere) == 0) api.Py_DecRef(reinterpret_cast<Object*>(old & layout->pointer_mask));
}

const char* resolve() {
  if (!find(api.Py_GetVersion, "Py_GetVersion")) return "this interpreter exports no Py_GetVersion";
  const char* version = api.Py_GetVersion();
  const Layout* found = layout_of(version);
  if (found == nullptr) return "Python is not one of 3.9 to 3.15";
  const bool shared = std::strstr(version, "free-threading") != nullptr;
  if (const char* refusal = shared ? refusal_of_free_threaded(found->minor) : nullptr) return refusal;
  bool complete = true;
#define LOTUS_PY_F(result, name, other, parameters) \
  complete = find_either(api.name, #name, other) && complete;
  LOTUS_PY_FUNCTIONS(LOTUS_PY_F)
#undef LOTUS_PY_F
#define LOTUS_PY_D(name) complete = find(api.name, #name) && complete;
  LOTUS_PY_DATA(LOTUS_PY_D)
#undef LOTUS_PY_D
  if (!complete) return "this interpreter hides functions that tracing needs";
  free_threaded = shared;
  header_more = shared ? kHeaderMoreOfFreeThreaded : 0;
  auto* const type = static_cast<Type*>(api.PyList_Type);
  if (type_flags(type) != api.PyType_GetFlags(type))
    return "this interpreter's types are laid out differently";
  layout = layout_of_build(*found);
  return nullptr;
}

}  // namespace lotus::py
