// Which native entry points are operators of PyTorch.
#pragma once

#include <string_view>

namespace lotus::analyzer {

// By the library of the hook, a file name.
inline bool is_operator_hook(std::string_view library) { return library.starts_with("libtorch"); }

}  // namespace lotus::analyzer
