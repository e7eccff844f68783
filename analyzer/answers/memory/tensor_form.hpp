// Kinds and sizes of tensors, for people.
#pragma once

#include <cstdint>
#include <string>

#include "reading/trace/catalog.hpp"

namespace lotus::analyzer::memory {

// "float32 64x3x224x224"; empty: not known.
std::string form_text(const Process& process, std::uint64_t form);

}  // namespace lotus::analyzer::memory
