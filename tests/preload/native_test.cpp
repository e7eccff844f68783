// Totals of native entry points, and symbol lookup without the loader's lock.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>

#include "record/native_totals.hpp"
#include "system/loaded.hpp"
#include "system/loader.hpp"

namespace lotus {
namespace {

std::unique_ptr<NativeTotals> make_totals() { return std::make_unique<NativeTotals>(); }

TEST_CASE("a hook has one total for each span that is open") {
  const auto totals = make_totals();
  NativeTotal* outer = totals->of(7, 1);
  REQUIRE(outer != nullptr);
  outer->calls = 3;
  CHECK(totals->of(7, 1) == outer);
  NativeTotal* inner = totals->of(7, 2);
  REQUIRE(inner != nullptr);
  CHECK(inner != outer);
  CHECK(inner->calls == 0);
  CHECK(totals->of(7, 2) == inner);
  --totals->count;  // as on leaving the inner span
  CHECK(totals->of(7, 1) == outer);
  CHECK(outer->calls == 3);
}

TEST_CASE("a total that is gone is not found again under its old place") {
  const auto totals = make_totals();
  totals->of(1, 1)->calls = 5;
  totals->count = 0;
  CHECK(totals->of(2, 1)->calls == 0);
  CHECK(totals->of(1, 1)->calls == 0);
  CHECK(totals->count == 2);
}

TEST_CASE("more hooks than there is room for are refused, and those that have room go on") {
  const auto totals = make_totals();
  for (HookId hook = 1; hook <= kMaxTotals; ++hook) REQUIRE(totals->of(hook, 1) != nullptr);
  CHECK(totals->of(kMaxTotals + 1, 1) == nullptr);
  CHECK(totals->of(1, 2) == nullptr);
  CHECK(totals->of(kMaxTotals, 1) == &totals->rows[kMaxTotals - 1]);
}

TEST_CASE("symbols are those that dlsym finds") {
  prepare_loaded();
  for (const char* name : {"zlibVersion", "inflate", "deflate", "crc32", "no_such_function"}) {
    void* handle = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != nullptr);
    const Loaded library = find_loaded(dlsym(handle, "zlibVersion"));
    REQUIRE(library);
    CHECK(library.path().find("libz.so.1") != std::string_view::npos);
    const Symbol symbol = find_symbol(library, name);
    void* expected = dlsym(handle, name);
    CHECK((symbol ? symbol.address() : nullptr) == expected);
    if (symbol) CHECK(symbol.holds(name));
    dlclose(handle);
  }
}

TEST_CASE("of a symbol's versions the default one is found") {
  const Loaded library = find_loaded(reinterpret_cast<const void*>(&std::abort));
  REQUIRE(library);
  for (const char* name : {"realpath", "posix_spawn", "pthread_cond_signal", "fmemopen", "nftw"}) {
    const Symbol symbol = find_symbol(library, name);
    REQUIRE(symbol);
    CHECK(symbol.address() == dlsym(RTLD_DEFAULT, name));
  }
}

TEST_CASE("functions of libc are those behind this object, in a version if there is that one") {
  CHECK(libc_symbol("fopen", nullptr) == dlsym(RTLD_NEXT, "fopen"));
  CHECK(libc_symbol("pthread_cond_signal", "GLIBC_2.2.5") ==
        dlvsym(RTLD_NEXT, "pthread_cond_signal", "GLIBC_2.2.5"));
  CHECK(libc_symbol("pthread_cond_signal", "GLIBC_0") == dlsym(RTLD_NEXT, "pthread_cond_signal"));
  CHECK(libc_symbol("no_such_function", nullptr) == nullptr);
}

TEST_CASE("a symbol is told by any address in it") {
  void* const abort = dlsym(RTLD_DEFAULT, "abort");
  const ElfW(Sym)* const symbol = symbol_at(static_cast<char*>(abort) + 1);
  REQUIRE(symbol != nullptr);
  CHECK(reinterpret_cast<char*>(object_at(abort).map->l_addr) + symbol->st_value == abort);
  CHECK(symbol_at(nullptr) == nullptr);
}

TEST_CASE("an address in no library has none") {
  int here = 0;
  CHECK(!find_loaded(&here));
  CHECK(!find_loaded(nullptr));
}

}  // namespace
}  // namespace lotus
