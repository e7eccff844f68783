// The frames of sampled stacks by name: the same function of several processes or traces is one frame.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "reading/trace/stack_table.hpp"

namespace lotus::analyzer {

enum class Part : std::uint8_t {
  native,       // a function of a library or of the program
  python,       // a Python function
  interpreter,  // a function of CPython itself
  tracer,       // of liblotus.so
};

struct NamedFrame {
  std::string name;
  std::string library;  // base name; of a Python function: that of its source file
  std::string file;     // of the source, empty: not known
  std::uint64_t line = 0;
  Part part = Part::native;
  bool named = true;  // else what stands for all functions of the library that have no name
  NameSource source = NameSource::unknown;

  // Whether the name is only a place in a library without symbols.
  bool by_address() const { return source == NameSource::unwind_entry || source == NameSource::unknown; }
  bool by_code() const { return source == NameSource::code; }
};

using FrameId = std::uint32_t;  // numbers the frames of a table, from 0

class FrameTable {
 public:
  const NamedFrame& operator[](FrameId id) const { return frames_[id]; }
  FrameId intern(NamedFrame frame);

 private:
  std::deque<NamedFrame> frames_;
  std::map<std::tuple<Part, std::string, std::string>, FrameId> ids_;
};

// Names the stacks of one trace.
class StackNames {
 public:
  // Both outlive it.
  StackNames(const StackTable& stacks, FrameTable& frames) : stacks_(stacks), frames_(frames) {}

  // The frames of a stack, innermost first, inlined functions included. Empty: its definition is lost.
  std::vector<FrameId> frames_of(std::uint64_t stack);

 private:
  std::span<const FrameId> at(std::uint64_t location);
  NamedFrame named(const Location& location, std::uint64_t function) const;
  NamedFrame unnamed(const Location& location) const;

  const StackTable& stacks_;
  FrameTable& frames_;
  std::unordered_map<std::uint64_t, std::vector<FrameId>> by_location_;
};

// The owner of a sample's CPU time.
struct Owner {
  Part part = Part::native;
  const FrameId* frame = nullptr;  // the function; nullptr: none has a name, or it is the tracer
};

// `frames`: innermost first. The innermost frame owns the sample, with these exceptions: what the interpreter
// does belongs to the innermost Python function; reading the clock for the tracer belongs to the tracer.
Owner owner_of(std::span<const FrameId> frames, const FrameTable& table);

// Under which function a place in a library without symbols ran: the innermost of those around the first of
// `frames` that has a name and lies in the same library, without a frame of another one between them.
// nullptr: the first has a name itself, or there is none.
const FrameId* named_caller(std::span<const FrameId> frames, const FrameTable& table);

// A function for people: shortened, `under` which one it ran (empty: not known, or not told), and whether it
// was recognised by its code.
std::string function_text(const std::string& name, const std::string& under, bool by_code);

// The last part of a path.
std::string base_name(const std::string& path);

}  // namespace lotus::analyzer
