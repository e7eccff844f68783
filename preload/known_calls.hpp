// Functions that are called inside operations and are of no interest there but for their names in snapshots:
// nearly all of them.
//
// A sample's pixels drive everything else out of the caches, so each line of memory that a call reads is
// fetched anew for each sample. Here eight functions share a line, and a function is in one line only; their
// CodeInfos, and what hangs on their code objects, have lines of their own. The GIL guards the table.
#pragma once

#include <cstdint>

#include "evaluator.hpp"

namespace lotus {

class KnownCalls {
 public:
  // The definition `code` of such a function; 0: it is not known to be one, here.
  std::uint32_t find(const py::Object* code, const Context& context) const {
    for (const std::uint64_t entry : line_of(code).entries) {
      if (entry >> kValueBits != key(code)) continue;
      const bool here_too =
          context.kind == Context::Kind::opaque ||
          (context.kind == Context::Kind::op && (!context.guessed || (entry & kAlways) != 0));
      return here_too ? static_cast<std::uint32_t>(entry) >> 1 & kMostDefinitions : 0;
    }
    return 0;
  }

  // `info`: of `code`; what is known of it may still change.
  void add(const py::Object* code, const CodeInfo& info) {
    const bool always = (info.traits & (kTransparent | kIgnored)) != 0;
    const bool known = info.role == nullptr && (always || info.runner == Verdict::no) &&
                       info.code_definition != 0 && info.code_definition <= kMostDefinitions &&
                       key(code) >> (64 - kValueBits) == 0;
    if (known) entry_for(code) = key(code) << kValueBits | info.code_definition << 1 | (always ? kAlways : 0);
  }

  // A code object may be gone, or definitions are made anew.
  void clear() {
    for (Line& line : lines_) line = {};
  }

 private:
  static constexpr int kLineBits = 6;
  static constexpr std::size_t kEntries = 8;   // of a line
  static constexpr int kValueBits = 20;        // of an entry: the definition and a flag; above them the key
  static constexpr std::uint64_t kAlways = 1;  // also in an operation that is but a sample's first frame
  static constexpr std::uint32_t kMostDefinitions = (1u << (kValueBits - 1)) - 1;

  struct alignas(64) Line {
    std::uint64_t entries[kEntries] = {};
  };

  static std::uint64_t key(const py::Object* code) { return reinterpret_cast<std::uintptr_t>(code) >> 4; }
  static std::size_t place(const py::Object* code) {
    return static_cast<std::size_t>(key(code) * 0x9e3779b97f4a7c15 >> (64 - kLineBits));
  }
  const Line& line_of(const py::Object* code) const { return lines_[place(code)]; }

  // The function's own entry, a free one, or the last that was added to its line.
  std::uint64_t& entry_for(const py::Object* code) {
    auto& entries = lines_[place(code)].entries;
    for (std::uint64_t& entry : entries)
      if (entry == 0 || entry >> kValueBits == key(code)) return entry;
    return entries[kEntries - 1];
  }

  Line lines_[std::size_t{1} << kLineBits] = {};
};
extern constinit KnownCalls known_calls;

}  // namespace lotus
