// Whose a piece of Python code is, by where its file lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "python/call.hpp"

namespace lotus {

// Code of one installed package has a number of its own, above these.
inline constexpr std::uint32_t kUnknownOwner = 0, kProgram = 1, kStandardLibrary = 2, kMadeAtRunTime = 3;
inline constexpr std::uint32_t kPyTorch = 4, kFirstPackage = 5;

std::uint32_t owner_of(CodeInfo& info, py::Object* code);
std::uint32_t owner_of(py::Object* code);
std::uint32_t owner_of_file(std::string_view file);

// The code that calls the function which is about to be evaluated. A new reference; nullptr: none does.
py::Object* calling_code();

// Whether what is about to be evaluated, or has just been, is part of the call of a torch.nn.Module. Makes
// objects of all frames around it, so it is asked seldom.
bool is_inside_of_module();

// An installed package and the part of it that the file is in, `torchdata.nodes`; into `buffer`. Empty: it is
// in none.
std::string_view name_of_library(std::string_view file, char* buffer, std::size_t size);

inline bool is_library(std::uint32_t owner) { return owner == kStandardLibrary || owner >= kPyTorch; }

// Whether PyTorch's code is a function that makes a batch of samples, default_collate and its kind.
bool is_collate(CodeInfo& info, py::Object* code);

// Whether a frame inside of library code stands at a border of that library, and so is an operation: it is
// the program's own code, or a function of the library that calls into another package than PyTorch, as
// decoders of images do. The latter is known from the first such call on. `around`: the owner of the
// library's code.
bool is_at_border(const Call& call, std::uint32_t around);

}  // namespace lotus
