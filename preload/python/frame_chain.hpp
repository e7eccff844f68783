// A thread's Python frames as the interpreter links them, from CPython 3.11: what stack snapshots name Python
// functions by where calls are made without our evaluator.
//
// Read in a signal handler, at any instruction of the interpreter: what a link points to is copied by the
// kernel, which refuses what is not there, and code objects are not followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/python_frames.hpp>

#include "python/cpython.hpp"
#include "python/unhooked_call.hpp"

namespace lotus {

// A frame: its code object, and an address in the C frame of the evaluator that runs it, which runs several
// where Python calls Python.
struct ChainedFrame {
  const py::Object* code;
  std::uintptr_t address;
};

// Memory of this process: the part of the thread's own stack that is in use is read, all else copied in
// pages.
class FrameMemory {
 public:
  static constexpr std::uintptr_t kPageBytes = 4096;

  // `page`: a buffer of kPageBytes. The stack from `begin` to `end`.
  FrameMemory(std::uint8_t* page, std::uintptr_t begin, std::uintptr_t end)
      : page_(page), begin_(begin), end_(end) {}
  bool is_stack(std::uintptr_t address) const { return address >= begin_ && address < end_; }
  // The 8 bytes at an address that is a multiple of 8. False: there is nothing.
  bool read(std::uintptr_t address, std::uintptr_t& word);

 private:
  std::uint8_t* page_;
  std::uintptr_t begin_, end_;
  std::uintptr_t copied_ = 0;  // the page that the buffer holds
};

// The frames below `call`, its own not among them, innermost first and with ascending addresses. Returns how
// many, at most `most`: the innermost ones. 0: there are none, or they cannot be told.
std::size_t frames_below(const UnhookedCall& call, FrameMemory& memory, ChainedFrame* frames,
                         std::size_t most);

// Whether frames are found in this interpreter. With the GIL held, inside a Python call.
bool finds_frames(const py::ThreadState* state);

// How frames are linked in this interpreter: fills in `current`, `cframe`, `previous` and `owner`. False: not
// known. With the GIL held, inside a Python call.
bool describe_chain(const py::ThreadState* state, PythonFrames& frames);

}  // namespace lotus
