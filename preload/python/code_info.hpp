// What is known of a code object, kept with it.
#pragma once

#include <cstdint>

#include "python/cpython.hpp"

namespace lotus {

struct Call;
using Handler = py::Object* (*)(Call&);

// A row of the role table: a function of PyTorch or of the standard library with a role of its own. Other
// libraries have copies of PyTorch's loader, or subclasses with functions of their own in place of its: a
// function of the row's name in another file that uses all of `marks` does the same.
struct Role {
  const char* file;      // end of co_filename
  const char* function;  // co_name
  Handler handler;
  const char* locals[3];      // local variables that the handler reads, by name
  const char* marks[3] = {};  // attributes and globals that a copy uses, too; none: there are no copies
};

enum class Verdict : std::uint8_t { open, no, yes };

enum Trait : std::uint8_t {
  kTransparent = 1,  // its callees count as its caller's: comprehensions, generators, contextlib …
  kIgnored = 2,      // special methods that are no operation: __len__, __getattr__ …
  kGenerator = 4,    // generators and generator-based iterables
  kGetItem = 8,      // co_name is __getitem__
  kGetItems = 16,    // co_name is __getitems__
  kNext = 32,        // co_name is __next__
};

constexpr int kMaxHeld = 2;  // callables that one function calls for its `self`

struct CodeInfo {
  const Role* role = nullptr;
  py::Object* attribute = nullptr;  // runner: the attribute that holds its callables (owned by the code)
  py::Object* inner_attribute = nullptr;  // … of the object in that attribute which keeps them; else nullptr
  std::uint64_t callables_print = 0;      // … and what it held last, see fingerprint()
  const void* key = nullptr;              // last callable or type seen with this code, and …
  std::uint32_t key_definition = 0;       // … its op definition
  std::uint32_t generation = 0;           // of key_definition
  std::uint32_t code_definition = 0;      // definition `code`, of …
  std::uint32_t code_generation = 0;      // … this generation
  std::int16_t local[3] = {-1, -1, -1};   // indices of role->locals
  std::int16_t first = -1;                // index of the first argument, -1 if there is none; …
  bool first_in_tuple = false;            // … it is the first of *args, which has this index
  bool takes_any = false;                 // it has *args
  bool closes_over = false;               // functions with this code differ in what they close over, …
  std::int16_t closed_over = -1;          // … index of the first of these cells, up to 3.10
  std::uint8_t arguments = 0;             // co_argcount, at most 255
  std::uint8_t traits = 0;
  std::uint8_t tries = 0;  // looks at runner candidates whose list was still empty
  Verdict runner = Verdict::open;
  Verdict holder = Verdict::open;
  std::uint8_t holder_tries = 0;
  Verdict border =
      Verdict::open;  // whether it is an operation inside of a library's code, see is_at_border()
  std::uint8_t border_looks = 0;
  Verdict part = Verdict::open;  // whether it is an operation inside of one of an own loader's, see parts.hpp
  std::uint8_t part_tries = 0;   // calls of it that were looked at for that, …
  std::uint32_t part_ticks = 0;  // … and what they took
  bool is_operation = false;     // it was one of an own loader's
  std::uint8_t looks = 0;        // an iterator's function: see looks_left()
  std::uint32_t owner = 0;       // see owner_of(); 0: not looked at yet
  bool of_dataset = false;       // a method of a dataset's class, or what a property of it runs
  bool called = false;  // a runner, a dataset or a library was seen to hold a callable that runs this code
  py::Object* held[kMaxHeld] = {};  // holder: the attributes that hold callables (owned by the code)
};

// In place of a CodeInfo, of nearly all code: it has no role, and was not met inside a pipeline.
inline void* const kPlain = reinterpret_cast<void*>(1);

// The same of an iterator's function: it may give training its batches, see pipeline/other_loaders.hpp. So
// many of its calls are still looked at.
inline void* watched(unsigned looks) {
  return looks == 0 ? kPlain : reinterpret_cast<void*>(std::uintptr_t{looks} << 2 | 3);
}
inline unsigned looks_left(const void* extra) {
  const auto bits = reinterpret_cast<std::uintptr_t>(extra);
  return (bits & 3) == 3 ? static_cast<unsigned>(bits >> 2) : 0;
}
// A CodeInfo, or nullptr.
inline CodeInfo* info_in(void* extra) {
  return (reinterpret_cast<std::uintptr_t>(extra) & 1) != 0 ? nullptr : static_cast<CodeInfo*>(extra);
}

}  // namespace lotus
