// libjpeg and libjpeg-turbo: interposed decompression functions.
//
// Several libjpegs may live in one process. A decompressor belongs to the one that made it: that one's memory
// manager hangs on it, and the first function of that manager says by its address which library it is.
#include "native/hooks.hpp"
#include "native/interposed.hpp"
#include "native/line_times.hpp"
#include "system/files.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

#define LOTUS_ONE(...) +1
constexpr std::size_t kFunctions = 0 LOTUS_JPEG_HOOKS(LOTUS_ONE);
#undef LOTUS_ONE

// The functions of this library are numbered from 0 here.
constexpr std::size_t number_of(Hooked function) { return function - hooked_jpeg_read_header; }
constexpr const char* name_of(std::size_t symbol) { return kHookRows[hooked_jpeg_read_header + symbol].name; }

struct JpegLibrary {
  const void* allocator = nullptr;  // published last
  Loaded object;
  Symbol symbols[kFunctions];
  HookId hooks[kFunctions] = {};
};
constexpr std::uint32_t kMaxLibraries = 16;  // more are looked up at each call
constinit JpegLibrary libraries[kMaxLibraries] = {};
constinit std::uint32_t library_count = 0;

// The library of this thread's last image, and how many were known when it was looked up: since then another
// may have been found at its address, by the thread that read the image's header.
struct Memory {
  const void* allocator;
  const JpegLibrary* library;
  std::uint32_t libraries;
};
constinit thread_local Memory last{};

// The call that this thread counted last: where an image is read line by line, hundreds like it follow.
struct CountedCall {
  std::size_t symbol;  // kNone: there was none
  AnyFunction function;
  OpenCall counted;
  Word image;
  LineTimes times;  // of those that follow
};
constexpr std::size_t kNone = ~std::size_t{0};
constinit thread_local CountedCall before{kNone, nullptr, {}, 0, {}};

// struct jpeg_common_struct begins with err and mem, struct jpeg_memory_mgr with alloc_small.
const void* allocator_of(Word decompressor) {
  const auto* fields = reinterpret_cast<const void* const* const*>(decompressor);
  return fields == nullptr || fields[1] == nullptr ? nullptr : fields[1][0];
}

// The lines of an image that were not read yet. Up to output_scanline, struct jpeg_decompress_struct is the
// same in all versions of libjpeg since 6.
std::uint32_t lines_left(Word decompressor) {
  constexpr std::size_t kOutputHeight = 140, kOutputScanline = 168;
  const auto field = [&](std::size_t offset) {
    return *reinterpret_cast<const std::uint32_t*>(decompressor + offset);
  };
  const std::uint32_t height = field(kOutputHeight), next = field(kOutputScanline);
  return next < height ? height - next : 0;
}

const JpegLibrary* add_library(const void* allocator, const Loaded& object) {
  const std::uint32_t index = __atomic_fetch_add(&library_count, 1, __ATOMIC_RELAXED);
  if (index >= kMaxLibraries) {
    __atomic_store_n(&library_count, kMaxLibraries, __ATOMIC_RELAXED);
    return nullptr;
  }
  JpegLibrary& library = libraries[index];
  library.object = object;
  for (std::size_t i = 0; i < kFunctions; ++i) {
    library.symbols[i] = find_symbol(object, name_of(i));
    if (library.symbols[i]) library.hooks[i] = add_hook(name_of(i), base_name(object.path()));
  }
  __atomic_store_n(&library.allocator, allocator, __ATOMIC_RELEASE);
  return &library;
}

bool still_holds(const JpegLibrary& library) {
  for (std::size_t i = 0; i < kFunctions; ++i)
    if (library.symbols[i] && !library.symbols[i].holds(name_of(i))) return false;
  return true;
}

// Looks once an image whether the library is still the one that was known under this address: the loader may
// have put another in its place.
const JpegLibrary* library_of(const void* allocator) {
  const Loaded object = find_loaded(allocator);
  if (!object) return nullptr;
  const std::uint32_t count = __atomic_load_n(&library_count, __ATOMIC_RELAXED);
  for (std::uint32_t i = 0; i < count && i < kMaxLibraries; ++i) {
    const JpegLibrary& library = libraries[i];
    if (__atomic_load_n(&library.allocator, __ATOMIC_ACQUIRE) == allocator && library.object == object &&
        still_holds(library))
      return &library;
  }
  return add_library(allocator, object);
}

[[gnu::noinline]] void look_up(const void* allocator) {
  before.symbol = kNone;
  last.library = allocator == nullptr ? nullptr : library_of(allocator);
  last.allocator = allocator;
  last.libraries = __atomic_load_n(&library_count, __ATOMIC_RELAXED);
}

bool is_last(const void* allocator) {
  return last.allocator == allocator && last.libraries == __atomic_load_n(&library_count, __ATOMIC_RELAXED);
}

[[gnu::noinline]] Word call_unknown(std::size_t symbol, const void* caller, const void* ours, Word a, Word b,
                                    Word c) {
  const auto function = reinterpret_cast<AnyFunction>(bind_for_caller(caller, name_of(symbol), ours));
  return function == nullptr ? 0 : call_function(function, a, b, c);
}

// One copy of it for all functions: each image calls several, whose code lies in no cache by then.
[[gnu::noinline]] Word call(std::size_t symbol, bool begins, const void* caller, const void* ours, Word a,
                            Word b, Word c) {
  const void* allocator = allocator_of(a);
  if (begins || !is_last(allocator)) look_up(allocator);
  const JpegLibrary* library = last.library;
  if (library == nullptr || !library->symbols[symbol]) [[unlikely]]
    return call_unknown(symbol, caller, ours, a, b, c);
  const auto function = reinterpret_cast<AnyFunction>(library->symbols[symbol].address());
  Thread* thread = counting_thread();
  if (thread == nullptr || library->hooks[symbol] == 0) return call_function(function, a, b, c);
  const OpenCall counted = count_call(*thread, library->hooks[symbol]);
  before = {symbol, function, counted, a, {}};
  return timed(counted, [&] { return call_function(function, a, b, c); });
}

bool has_read(Word result) { return static_cast<std::uint32_t>(result) > 0; }

// After a call that was counted, where a group of lines may end.
[[gnu::noinline]] Word finish_line(Word result) {
  const std::uint64_t ticks = before.times.after(has_read(result), ticks_now);
  if (ticks > 0) count_return(before.counted, ticks, 0);
  return result;
}

[[gnu::noinline]] Word call_line(std::size_t symbol, const void* caller, const void* ours, Word a, Word b,
                                 Word c) {
  const bool again = before.symbol == symbol && before.image == a && is_last(allocator_of(a)) &&
                     !process.off && still_counts(before.counted);
  if (!again) return call(symbol, false, caller, ours, a, b, c);
  ++before.counted.total->calls;
  before.times.before(
      static_cast<std::uint32_t>(c), [&] { return lines_left(a); }, ticks_now);
  return finish_line(call_function(before.function, a, b, c));
}

// jpeg_read_scanlines: most calls are like the one before, inside a group.
[[gnu::always_inline]] inline Word call_again(std::size_t symbol, const void* caller, const void* ours,
                                              Word a, Word b, Word c) {
  const bool again = before.times.inside() && before.symbol == symbol && before.image == a && !process.off &&
                     still_counts(before.counted);
  if (!again) return call_line(symbol, caller, ours, a, b, c);
  ++before.counted.total->calls;
  const Word result = call_function(before.function, a, b, c);
  return before.times.goes_on(has_read(result)) ? result : finish_line(result);
}

// The rules of the table.
template <bool Begins>
struct JpegCall {
  template <Hooked F>
  static Word call(const Caller& from, Word a, Word b = 0, Word c = 0) {
    return lotus::call(number_of(F), Begins, from.address, from.ours, a, b, c);
  }
};
using begins = JpegCall<true>;
using each = JpegCall<false>;
struct repeats {
  template <Hooked F>
  [[gnu::always_inline]] static Word call(const Caller& from, Word a, Word b, Word c) {
    return call_again(number_of(F), from.address, from.ours, a, b, c);
  }
};

}  // namespace

LOTUS_INTERPOSE(LOTUS_JPEG_HOOKS)

}  // namespace lotus
