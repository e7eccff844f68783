// A function that is defined again has another code, and is the same construct of the program.
#pragma once

#include "answers/controlflow/construct.hpp"
#include "reading/trace/catalog.hpp"

namespace lotus::analyzer::controlflow {

// With the constructs of codes that have the same place and instructions as one, under the first code's key.
std::map<ConstructKey, Construct> merged(const Process& process, const Constructs& constructs);

}  // namespace lotus::analyzer::controlflow
