// The frame evaluator (PEP 523) that liblotus puts before CPython's own.
//
// Every code object gets, once, what is known of it: kPlain, or a CodeInfo. A plain code outside a fetch
// costs one load and a jump. Everything else is a handler, a function that wraps the call.
//
// Why not sys.monitoring, from 3.12 on? What decides:
// - Operations are found by rule, among all frames below a fetch. Monitoring costs nothing for code that is
//   not looked at, but in a pipeline we look at all of it, and there an event at each start and return costs
//   four times what an evaluator does (bench/evaluators: +80 against +20 ns a call on 3.12 and 3.13).
// - Outside of a pipeline these 20 ns are below the noise of real programs.
// - A snapshot of the stack ends where the operation's C frames do, at our evaluator's own frame. Without an
//   evaluator Python's calls share one C frame, and nothing tells an operation's native functions from its
//   caller's.
// - Events give no locals, and PY_UNWIND comes for all code.
// - torch.compile, coverage.py, sys.settrace and other tools of sys.monitoring work beside the evaluator
//   (tests/e2e/test_compiled.py); monitoring has six places for tools in all, which they share.
// - Recursion goes as deep as without us: evaluate_deep() in evaluator.cpp.
#pragma once

#include <span>

#include "python/code_info.hpp"
#include "python/cpython.hpp"

namespace lotus {

// Makes this library the interpreter's frame evaluator, with these functions' roles (not copied). Returns
// nullptr, or why not.
const char* install_evaluator(std::span<const Role> roles);

// Once installed: evaluates frames by it, or by CPython's own evaluator.
void use_evaluator(bool ours);

// Evaluates a frame and all that it calls, in whatever thread, by CPython's own evaluator. Calls down there
// cost nothing, and nothing of Python is recorded. Where another tool has put its evaluator before ours, that
// stays.
py::Object* evaluate_unhooked(py::ThreadState* state, py::Frame* frame, int throwing);

// In a forked child, which goes on below evaluate_unhooked() if its parent was there.
void take_evaluator_back();

// Whether a code object was met before and is a row of the role table.
bool has_role(py::Object* code);

// An iterator's function is looked at so many more times; 0: it is plain.
void look_at_calls(py::Object* code, unsigned looks);

// The info of a code object, made if need be; nullptr when there is no room for one more.
CodeInfo* info_of(py::Object* code);

}  // namespace lotus
