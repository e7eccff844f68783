// The functions of PyTorch's loader and of multiprocessing that have a role of their own.
#pragma once

#include <string_view>

#include "evaluator.hpp"

namespace lotus {

// Quick test on the name alone.
bool may_have_role(std::string_view function);

// The row for this function of this file, or nullptr.
const Role* find_role(std::string_view function, std::string_view file);

}  // namespace lotus
