// Shortens names of C++ and Rust functions so that they are readable: PyTorch's kernels are called by
// templates of lambdas, whose demangled names have hundreds of characters.
#pragma once

#include <string>
#include <string_view>

namespace lotus::analyzer {

// `name`, demangled, without return type, parameters, unnamed namespaces and template arguments of more than
// a few characters. Where an argument is a lambda, or a function's address, the name says of which function,
// since its code is what runs:
//
//     c10::function_ref<void (long)>::run<Loop<at::div(at::T&)::{lambda()#2}::operator()()
//       const::{lambda(float)#1}> >(long)
//     run<div{lambda#2.1(float)}>
//
// Numbers tell a function's lambdas apart, each within the one before. Names of C, of Python, of stripped
// functions, and names that cannot be parsed stay unchanged. All are cut to 120 columns in the middle.
// Different functions may get one name. Any bytes are allowed; the time is linear in their number.
std::string readable_function(std::string_view name);

}  // namespace lotus::analyzer
