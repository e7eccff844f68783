// The note is `collecting` in the interpreter's state, an int. Behind it (and from 3.15 on behind a frame)
// stand pointers to the lists gc.garbage and gc.callbacks. Where both are is looked for, no offset is
// assumed.
#include "python/collecting.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "python/interpreter.hpp"
#include "python/objects.hpp"
#include "python/python_thread.hpp"
#include "system/mappings.hpp"

namespace lotus {
namespace {

using StateOfThread = py::ThreadState* (*)();

constinit std::atomic<const int*> collecting = nullptr;  // set last
constinit StateOfThread running_state = nullptr;         // of the thread that has the interpreter's lock
constinit StateOfThread own_state = nullptr;

// The address of two pointers in an interpreter's state, which may end anywhere; 0: they are not there.
std::uintptr_t place_of(std::uintptr_t state, const void* first, const void* second) {
  constexpr std::size_t kWords = 512;
  constexpr std::size_t kMostBlocks = 32;  // 128 KiB: there it was found from 3.9 to 3.15
  std::uintptr_t words[kWords + 1]{};      // the last one of the block before comes first
  const OwnMemory memory;
  for (std::size_t block = 0; block < kMostBlocks; ++block) {
    const std::uintptr_t address = state + block * kWords * sizeof *words;
    const std::size_t count = memory.read(address, words + 1, sizeof words - sizeof *words) / sizeof *words;
    for (std::size_t i = 0; i < count; ++i)
      if (words[i] == reinterpret_cast<std::uintptr_t>(first) &&
          words[i + 1] == reinterpret_cast<std::uintptr_t>(second))
        return address + i * sizeof *words - sizeof *words;
    if (count < kWords) return 0;
    words[0] = words[kWords];
  }
  return 0;
}

py::Object* interned(const char* text) { return py::api.PyUnicode_InternFromString(text); }

}  // namespace

void find_collecting() {
  static constinit bool tried = false;
  if (tried) return;
  py::Object* const gc = loaded_module("gc");
  if (gc == nullptr) return;  // not imported so far
  tried = true;
  const Owned garbage_name(interned("garbage"));
  const Owned callbacks_name(interned("callbacks"));
  if (!garbage_name || !callbacks_name) return py::api.PyErr_Clear();
  const Owned garbage(plain_attribute(gc, garbage_name.get()));
  const Owned callbacks(plain_attribute(gc, callbacks_name.get()));
  const bool has_states = (py::find(running_state, "PyThreadState_GetUnchecked") ||
                           py::find(running_state, "_PyThreadState_UncheckedGet")) &&
                          py::find(own_state, "PyGILState_GetThisThreadState");
  if (!garbage || !callbacks || !has_states) return;
  const auto state = reinterpret_cast<std::uintptr_t>(py::api.PyInterpreterState_Get());
  const int saved = errno;
  const std::uintptr_t lists = place_of(state, garbage.get(), callbacks.get());
  errno = saved;
  if (lists == 0) return;
  const auto* const note = reinterpret_cast<const int*>(lists - (py::layout->minor < 15 ? 8 : 16));
  if (*note == 0 || *note == 1) collecting.store(note, std::memory_order_release);
}

// A thread that has no context may be one that Python does not know: its first look at its own state could
// ask for memory.
Collecting is_collecting() {
  const int* const note = collecting.load(std::memory_order_acquire);
  if (note == nullptr || python_thread.context == nullptr) return Collecting::unknown;
  if (__atomic_load_n(note, __ATOMIC_RELAXED) != 1) return Collecting::no;
  const py::ThreadState* const running = running_state();
  return running != nullptr && running == own_state() ? Collecting::yes : Collecting::no;
}

}  // namespace lotus
