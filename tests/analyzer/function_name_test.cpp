// Function names are shortened to a readable length.
#include <doctest/doctest.h>

#include <string>

#include "text/function_name.hpp"
#include "text/utf8.hpp"

using namespace lotus::analyzer;

TEST_CASE("parameters, return types and long template arguments are left out") {
  CHECK(readable_function("at::native::copy_impl(at::Tensor&, at::Tensor const&, bool)") ==
        "at::native::copy_impl");
  CHECK(readable_function("void at::native::(anonymous namespace)::f<float, 3>(float*)") ==
        "at::native::f<float, 3>");
  CHECK(readable_function("unsigned long hash<int>(int)") == "hash<int>");
  CHECK(readable_function("std::vector<int, std::allocator<int> >::push_back(int const&)") ==
        "std::vector<int, …>::push_back");
  CHECK(readable_function("std::vector<std::pair<std::string, std::string> >::data() const") ==
        "std::vector::data");
  CHECK(readable_function("std::string::c_str[abi:cxx11]() const") == "std::string::c_str");
  CHECK(readable_function("f(int) [clone .cold]") == "f [clone .cold]");
  CHECK(readable_function("non-virtual thunk to A::f(int)") == "non-virtual thunk to A::f");
}

TEST_CASE("operators are no brackets") {
  CHECK(readable_function("bool operator< <int>(int, int)") == "operator< <int>");
  CHECK(readable_function("A::operator()(int) const") == "A::operator()");
  CHECK(readable_function("at::operator-(at::Tensor const&, at::Tensor const&)") == "at::operator-");
  CHECK(readable_function("A::operator std::string() const") == "A::operator std::string");
  CHECK(readable_function("A::operator()<std::pair<int, int> const&>(int) const") == "A::operator()");
  CHECK(readable_function("f()::{lambda(auto:1&)#1}::operator()<c10::Tensor>(c10::Tensor&) const") ==
        "f{lambda(auto:1&)}");
  CHECK(readable_function("at::operator*<c10::BFloat16>(c10::BFloat16)") == "at::operator*<c10::BFloat16>");
  CHECK(readable_function("at::operator-<c10::BFloat16>(c10::BFloat16)") == "at::operator-<c10::BFloat16>");
  CHECK(readable_function("A::operator->() const") == "A::operator->");
  CHECK(readable_function("A::operator unsigned long() const") == "A::operator unsigned long");
  CHECK(readable_function("A<int>::operator[](unsigned long)") == "A<int>::operator[]");
}

TEST_CASE("a template that runs a lambda or a function is named by it") {
  CHECK(readable_function("c10::function_ref<void (char**, long const*, long, "
                          "long)>::callback_fn<at::native::AVX2::VectorizedLoop2d"
                          "<at::native::(anonymous "
                          "namespace)::div_true_kernel(at::TensorIteratorBase&)::{lambda()#2}::operator()() "
                          "const::{lambda()#2}::operator()() const::{lambda(float, float)#1}, int> >(long, "
                          "char**, long const*)") ==
        "callback_fn<div_true_kernel{lambda#2.2.1(float, float)}>");
  CHECK(readable_function(
            "std::_Function_handler<void (), f(int)::{lambda()#1}>::_M_invoke(std::_Any_data const&)") ==
        "_Function_handler<f{lambda}>::_M_invoke");
  CHECK(readable_function("call<Fn<int (int), &(at::lift(at::Tensor const&))>, int>::call(Kernel*)") ==
        "call<lift>::call");
  CHECK(readable_function("call<Fn<int (int), &at::(anonymous namespace)::wrapper> >::call(Kernel*)") ==
        "call<wrapper>::call");
  CHECK(readable_function("run<at::Sum::operator()(int)::{lambda(int)#1}>(int)") ==
        "run<Sum::operator(){lambda(int)}>");
  CHECK(readable_function("core::iter::Map<I, crate::decode::{closure#0}>::next") ==
        "Map<decode{closure#0}>::next");
  CHECK(readable_function("a::f()::{lambda(std::vector<std::string> const&)#1}::operator()(int) const") ==
        "a::f{lambda(…)}");
}

TEST_CASE("other names stay as they are") {
  for (const char* name :
       {"ImagingResampleHorizontal_8bpc", "libjpeg.so.62!0x226a0", "RandomHorizontalFlip.forward",
        "<listcomp>", "main.(*Server).serve", "-[Server serve:]", "Dataset.load.<locals>.<lambda>",
        "(Python and its interpreter)", "<T as core::fmt::Debug>::fmt", "", "a<b>>>>::((", "operator", "f)(",
        "{lambda(", "::"})
    CHECK(readable_function(name) == name);
}

TEST_CASE("however a name is made, it is short and soon there") {
  const auto many = [](const std::string& text) {
    std::string out;
    while (out.size() < 100'000) out += text;
    return out;
  };
  for (const std::string& name :
       {many("a<") + many(">"), many("a<{lambda("), many("{lambda()#1}::"), many("operator"),
        many("&a<") + many(">"), many("a::"), many("thunk to "), many(" [clone "),
        many("f<g()::{lambda()#1}, "), std::string(100'000, 'x'), many("\xff<(")})
    CHECK(display_width(readable_function(name)) <= 250);
}
