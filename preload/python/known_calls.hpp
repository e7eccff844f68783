// Functions that are called inside operations and are of no interest there but for their names in snapshots:
// nearly all of them.
//
// A sample's pixels drive everything else out of the caches, so each line of memory that a call reads is
// fetched anew for each sample. Here eight functions share a line, and the table is no larger than it has to
// be; their CodeInfos, and what hangs on their code objects, have lines of their own. The GIL guards the
// table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "python/code_info.hpp"
#include "python/context.hpp"
#include "system/hot.hpp"

namespace lotus {

class KnownCalls {
 public:
  // The definition `code` of such a function; 0: it is not known to be one, here.
  std::uint32_t find(const py::Object* code, const Context& context) const {
    std::size_t at = place(code);
    while (entries_[at] != 0 && entries_[at] >> kValueBits != key(code)) at = next(at);
    return entries_[at] != 0 ? definition_in(entries_[at], context) : 0;
  }
  // The same if it stands in its first place, as nearly all do; else 0.
  std::uint32_t find_at_once(const py::Object* code, const Context& context) const {
    const std::uint64_t entry = entries_[place(code)];
    return entry >> kValueBits == key(code) ? definition_in(entry, context) : 0;
  }

  // `info`: of `code`; what is known of it may still change.
  void add(const py::Object* code, const CodeInfo& info) {
    const bool always = (info.traits & (kTransparent | kIgnored)) != 0;
    const bool known = info.role == nullptr && (always || info.runner == Verdict::no) &&
                       info.code_definition != 0 && info.code_definition <= kMostDefinitions &&
                       key(code) >> (64 - kValueBits) == 0;
    if (!known) return;
    if (count_ >= (mask_ + 1) / 4 * 3) make_room();
    insert(key(code) << kValueBits | info.code_definition << 1 | (always ? kAlways : 0));
  }

  // A code object may be gone, or definitions are made anew.
  void clear() {
    for (std::uint64_t& entry : entries_) entry = 0;
    count_ = 0;
    mask_ = kLeast - 1;
  }

 private:
  static constexpr std::size_t kLeast = 128, kMost = 1024;  // entries; a quarter of them stays free
  static constexpr int kValueBits = 20;        // of an entry: the definition and a flag; above them the key
  static constexpr std::uint64_t kAlways = 1;  // also in an operation that is but a sample's first frame
  static constexpr std::uint32_t kMostDefinitions = (1u << (kValueBits - 1)) - 1;

  static std::uint32_t definition_in(std::uint64_t entry, const Context& context) {
    const bool here_too = context.kind == Context::Kind::opaque || context.kind == Context::Kind::op ||
                          (context.kind == Context::Kind::first_frame && (entry & kAlways) != 0);
    return here_too ? static_cast<std::uint32_t>(entry) >> 1 & kMostDefinitions : 0;
  }
  static std::uint64_t key(const py::Object* code) { return reinterpret_cast<std::uintptr_t>(code) >> 4; }
  static std::size_t hash(std::uint64_t key) { return key * 0x9e3779b97f4a7c15 >> 32; }
  std::size_t place(const py::Object* code) const { return hash(key(code)) & mask_; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask_; }

  void insert(std::uint64_t entry) {
    std::size_t at = hash(entry >> kValueBits) & mask_;
    while (entries_[at] != 0 && entries_[at] >> kValueBits != entry >> kValueBits) at = next(at);
    count_ += entries_[at] == 0 ? 1 : 0;
    entries_[at] = entry;
  }

  // Twice as large; where it is as large as it gets, it begins anew.
  void make_room() {
    const std::size_t size = mask_ + 1;
    if (size == kMost) return clear();
    std::uint64_t old[kMost / 2];
    for (std::size_t i = 0; i < size; ++i) old[i] = entries_[i];
    clear();
    mask_ = 2 * size - 1;
    for (std::size_t i = 0; i < size; ++i)
      if (old[i] != 0) insert(old[i]);
  }

  std::size_t mask_ = kLeast - 1;
  std::size_t count_ = 0;
  alignas(64) std::uint64_t entries_[kMost] = {};
};
LOTUS_DIRECT extern constinit KnownCalls known_calls;

}  // namespace lotus
