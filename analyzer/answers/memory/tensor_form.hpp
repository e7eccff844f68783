// Kinds and sizes of tensors, for people.
#pragma once

#include <cstdint>
#include <string>

#include "reading/trace/catalog.hpp"

namespace lotus::analyzer::memory {

struct Form {
  std::string text;         // "float32[64, 3, 224, 224]"; empty: not known
  std::uint64_t bytes = 0;  // of all elements; 0: not known
};

Form form_of(const Process& process, std::uint64_t id);

}  // namespace lotus::analyzer::memory
