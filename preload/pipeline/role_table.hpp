// The functions of PyTorch's loader and of multiprocessing that have a role of their own.
#pragma once

#include <span>

#include "python/code_info.hpp"

namespace lotus {

std::span<const Role> role_table();

}  // namespace lotus
