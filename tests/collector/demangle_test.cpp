// Mangled names of C++ and Rust as their programmers wrote them.
#include "names/demangle.hpp"

#include <doctest/doctest.h>

#include <string>

using lotus::collector::demangled;

TEST_CASE("C++: parameters, but no return type") {
  CHECK(demangled("_ZNK2at6Tensor3addERKS0_") == "at::Tensor::add(at::Tensor const&) const");
  CHECK(demangled("_Z3maxIiET_S0_S0_") == "max<int>(int, int)");
}

TEST_CASE("Rust, both manglings: no hash") {
  CHECK(demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE") == "core::fmt::Formatter::pad");
  CHECK(demangled("_RNvCs1234_7mycrate3foo") == "mycrate::foo");
}

TEST_CASE("symbol versions are cut off, also of mangled names") {
  CHECK(demangled("memcpy@@GLIBC_2.14") == "memcpy");
  CHECK(demangled("memcpy@GLIBC_2.2.5") == "memcpy");
  CHECK(demangled("_ZSt9terminatev@@GLIBCXX_3.4") == "std::terminate()");
}

TEST_CASE("other names stay as they are") {
  for (const char* name : {"jpeg_read_scanlines", "_Z", "_Znot_mangled!", "_R", "@", "", "a"})
    CHECK(demangled(name) == name);
  const std::string endless = "_Z" + std::string(100'000, 'P');
  CHECK(demangled(endless.c_str()) == endless);
}
