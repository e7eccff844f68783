// Functions that are called inside operations and are of no interest there but for their names in snapshots:
// nearly all of them.
//
// A sample's pixels drive everything else out of the caches, so each line of memory that a call reads is
// fetched anew for each sample. Here eight functions share a line; their CodeInfos, and what hangs on their
// code objects, have lines of their own. The GIL guards the table.
#pragma once

#include <cstdint>

#include "evaluator.hpp"

namespace lotus {

class KnownCalls {
 public:
  // The definition `code` of such a function; 0: it is not known to be one, here.
  std::uint32_t find(const py::Object* code, const Context& context) const {
    const std::uint64_t entry = entries_[place(code)];
    if (entry >> kValueBits != key(code)) return 0;
    const bool here_too = context.kind == Context::Kind::opaque ||
                          (context.kind == Context::Kind::op && (!context.guessed || (entry & kAlways) != 0));
    return here_too ? static_cast<std::uint32_t>(entry) >> 1 & kMostDefinitions : 0;
  }

  // `info`: of `code`; what is known of it may still change.
  void add(const py::Object* code, const CodeInfo& info) {
    const bool always = (info.traits & (kTransparent | kIgnored)) != 0;
    const bool known = info.role == nullptr && (always || info.runner == Verdict::no) &&
                       info.code_definition != 0 && info.code_definition <= kMostDefinitions &&
                       key(code) >> (64 - kValueBits) == 0;
    if (known)
      entries_[place(code)] = key(code) << kValueBits | info.code_definition << 1 | (always ? kAlways : 0);
  }

  // A code object may be gone, or definitions are made anew.
  void clear() {
    for (std::uint64_t& entry : entries_) entry = 0;
  }

 private:
  static constexpr int kPlaceBits = 9;
  static constexpr int kValueBits = 20;        // of an entry: the definition and a flag; above them the key
  static constexpr std::uint64_t kAlways = 1;  // also in an operation that is but a sample's first frame
  static constexpr std::uint32_t kMostDefinitions = (1u << (kValueBits - 1)) - 1;

  static std::uint64_t key(const py::Object* code) { return reinterpret_cast<std::uintptr_t>(code) >> 4; }
  static std::size_t place(const py::Object* code) {
    return static_cast<std::size_t>(key(code) * 0x9e3779b97f4a7c15 >> (64 - kPlaceBits));
  }

  std::uint64_t entries_[std::size_t{1} << kPlaceBits] = {};
};
extern constinit KnownCalls known_calls;

}  // namespace lotus
