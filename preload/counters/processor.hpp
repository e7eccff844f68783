// Which processor this is.
#pragma once

#include <lotus/topdown.hpp>

namespace lotus {

// Asked once; its vendor is empty where the processor does not say.
ProcessorId this_processor();

}  // namespace lotus
