// What memory a training step holds, over its time: what is in use, by what it is to training.
#pragma once

#include <string>

#include "answers/memory/answer.hpp"

namespace lotus::analyzer {

// Draws it into the directory, as SVG and PNG with the data as CSV beside it. Throws WrongUsage where one of
// the files exists, unless `replace`; Unusable where no step is recorded, or nothing can be drawn or written.
// The names of the files that were written, with commas.
std::string draw_memory_figure(const memory::MemoryAnswer& answer, const std::string& directory,
                               bool replace);

}  // namespace lotus::analyzer
