// Mangled C++ and Rust names are demangled to their form in the source code.
#include "names/demangle.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <string>

using lotus::collector::demangled;

namespace {

constexpr const char* kDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// A C++ substitution (S_, S0_ … SZ_), which refers to an earlier part of the name by its number.
std::string part(unsigned number) {
  if (number == 0) return "S_";
  const char digit = kDigits[number - 1];
  return std::string("S") + static_cast<char>(std::toupper(digit)) + "_";
}

// Nested types: A<int, int>, then A<that, that>, and so on up to `depth`, each twice as long as the one
// before. `first`: the substitution number of A.
std::string doubled(unsigned depth, unsigned first) {
  std::string types = "1AIiiE";
  for (unsigned i = 1; i <= depth; ++i) types += part(first) + "I" + part(first + i) + part(first + i) + "E";
  return types;
}

// The same in Rust: tuples of the previous tuple, which is referred to by its position in the name.
std::string doubled_rust(unsigned depth) {
  std::string body = "IC1aTjjE";
  std::size_t before = 4;
  for (unsigned i = 0; i < depth; ++i) {
    const std::size_t place = before - 1;
    const std::string back = std::string("B") + (place >= 62 ? std::string(1, kDigits[place / 62]) : "") +
                             kDigits[place % 62] + "_";
    before = body.size();
    body += "T" + back + back + "E";
  }
  return "_R" + body + "E";
}

}  // namespace

TEST_CASE("C++: parameters, but no return type") {
  CHECK(demangled("_ZNK2at6Tensor3addERKS0_") == "at::Tensor::add(at::Tensor const&) const");
  CHECK(demangled("_Z3maxIiET_S0_S0_") == "max<int>(int, int)");
}

TEST_CASE("C++ as older compilers mangled it") {
  CHECK(
      demangled("_ZSt4swapIN4llvm4gsym12FunctionInfoEENSt9enable_ifIXsr6__and_ISt6__not_ISt15__is_tuple_like"
                "IT_EESt21is_move_constructibleIS6_ESt18is_move_assignableIS6_EEE5valueEvE4typeERS6_SF_") ==
      "std::swap<llvm::gsym::FunctionInfo>(llvm::gsym::FunctionInfo&, llvm::gsym::FunctionInfo&)");
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

TEST_CASE("names that stand for more text than anybody reads stay as they are") {
  CHECK(demangled(("_Z1f" + doubled(2, 0)).c_str()) ==
        "f(A<int, int>, A<A<int, int>, A<int, int> >, A<A<A<int, int>, A<int, int> >, A<A<int, int>, A<int, "
        "int> > >)");
  const std::string types = "_Z1f" + doubled(30, 0);
  CHECK(demangled(types.c_str()) == types);
  CHECK(demangled(doubled_rust(1).c_str()) == "a::<(usize, usize), ((usize, usize), (usize, usize))>");
  const std::string rust = doubled_rust(30);
  CHECK(demangled(rust.c_str()) == rust);
}

TEST_CASE("nor is more looked through than is printed") {
  const std::string pack = "_Z1fI" + doubled(30, 1) + "EvDp" + part(31);
  CHECK(demangled(pack.c_str()) == pack);
}

TEST_CASE("template arguments that are repeated too often stay as they are") {
  std::string repeated = "_Z1fI" + doubled(8, 1) + "Ev";
  for (int i = 0; i < 1000; ++i) repeated += "T7_";
  CHECK(demangled(repeated.c_str()) == repeated);
}

TEST_CASE("long names are read") {
  std::string mangled = "_Z1fN2at6TensorE";
  std::string expected = "f(at::Tensor";
  for (int i = 1; i < 300; ++i) {
    mangled += "S0_";
    expected += ", at::Tensor";
  }
  CHECK(demangled(mangled.c_str()) == expected + ")");
}
