// Operations whose Python calls play no role: a parser, a tokenizer, copy.deepcopy(). Beside a frame
// evaluator, CPython from 3.11 runs each call half as fast again. So where an operation made many calls
// several times in a row and none of them was more than a call, it is run without our evaluator from then on,
// and looked at again now and then.
//
// The evaluator is the interpreter's, not the thread's: it is taken away only while no other thread can begin
// what has a role.
#pragma once

#include <cstdint>

#include "python/call.hpp"

namespace lotus {

// Evaluates the frame of operation `definition`, whose context is open.
py::Object* run_perhaps_plain(const Call& call, std::uint32_t definition);

// Operations are numbered anew.
void forget_plain_operations();

}  // namespace lotus
