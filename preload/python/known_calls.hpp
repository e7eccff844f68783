// Functions that play no role where they are called, inside a pipeline: nearly all of them. What a function
// may be there is found out once (in_pipeline()); from then on a call costs a look at this table.
//
// A sample's pixels drive everything else out of the caches, so each line of memory that a call reads is
// fetched anew for each sample. Here eight functions share a line, and the table is no larger than it has to
// be; their CodeInfos, and what hangs on their code objects, have lines of their own. The GIL, or the state
// lock, guards the table; it is read without: an entry is one word, which names its code.
// A code object is there while it is called, so that what is known of it is true or not there yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "python/code_info.hpp"
#include "python/context.hpp"
#include "system/hot.hpp"

namespace lotus {

// What is known of a function's calls; 0: nothing.
class KnownCall {
 public:
  explicit KnownCall(std::uint64_t entry) : entry_(entry) {}
  bool plays_no_role_in(const Context& context) const { return (entry_ & context.place) != 0; }
  // The definition `code`; 0: none was asked for, since no snapshots are taken.
  std::uint32_t name() const { return static_cast<std::uint32_t>(entry_ >> kPlaces) & kMostDefinitions; }

  static constexpr int kPlaces = 6, kNameBits = 15;  // of an entry, lowest first; above them the key
  static constexpr std::uint32_t kMostDefinitions = (1u << kNameBits) - 1;

 private:
  std::uint64_t entry_;
};

class KnownCalls {
 public:
  KnownCall find(const py::Object* code) const {
    const std::size_t mask = load(mask_);
    std::size_t at = hash(key(code)) & mask;
    // The table may be changing: not longer than it is.
    for (std::size_t looked = 0; looked <= mask; ++looked, at = (at + 1) & mask) {
      const std::uint64_t entry = load(entries_[at]);
      if (entry == 0 || entry >> kValueBits == key(code)) return KnownCall(entry);
    }
    return KnownCall(0);
  }
  // The same if it stands in its first place, as nearly all do.
  KnownCall find_at_once(const py::Object* code) const {
    const std::uint64_t entry = load(entries_[hash(key(code)) & load(mask_)]);
    return KnownCall(entry >> kValueBits == key(code) ? entry : 0);
  }

  // `info`: of `code`; what is known of it may still change. `name`: its definition, 0 if none is needed.
  void add(const py::Object* code, const CodeInfo& info, std::uint32_t name) {
    const std::uint8_t places = places_of(info);
    if (places == 0 || name > KnownCall::kMostDefinitions || key(code) >> (64 - kValueBits) != 0) return;
    if (count_ >= (mask_ + 1) / 4 * 3) make_room();
    insert(key(code) << kValueBits | std::uint64_t{name} << KnownCall::kPlaces | places);
  }

  // A code object may be gone, or definitions are made anew. Writes to what was used only: in a forked child,
  // a page that is written to is copied.
  void clear() {
    for (std::size_t i = 0; i <= mask_; ++i)
      if (entries_[i] != 0) store(entries_[i], 0);
    count_ = 0;
    store(mask_, kLeast - 1);
  }

 private:
  static constexpr std::size_t kLeast = 128, kMost = 4096;  // entries; a quarter of them stays free
  static constexpr int kValueBits = KnownCall::kPlaces + KnownCall::kNameBits;

  // The kinds of context in which in_pipeline() only runs a frame of this code, as long as it is what it is.
  static std::uint8_t places_of(const CodeInfo& info) {
    using At = Context::Kind;
    if (info.role != nullptr) return 0;
    const bool no_runner = info.runner == Verdict::no;
    const bool transparent = (info.traits & kTransparent) != 0;
    const bool ignored =
        (info.traits & kIgnored) != 0;  // and what it calls, too, where operations are called
    std::uint8_t places = Context::place_of(At::opaque);
    if (transparent || ignored || no_runner) places |= Context::place_of(At::op);
    const bool settled = no_runner && info.holder == Verdict::no && info.border == Verdict::no;
    if (transparent || ignored || (settled && !info.called)) places |= Context::place_of(At::first_frame);
    if (transparent && (info.traits & kGetItem) == 0 && !info.called) places |= Context::place_of(At::sample);
    if (!ignored && !info.called) places |= Context::place_of(At::runner);
    return places;
  }
  static std::uint64_t key(const py::Object* code) { return reinterpret_cast<std::uintptr_t>(code) >> 4; }
  static std::size_t hash(std::uint64_t key) { return key * 0x9e3779b97f4a7c15 >> 32; }
  static std::uint64_t load(const std::uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }
  static void store(std::uint64_t& word, std::uint64_t value) {
    __atomic_store_n(&word, value, __ATOMIC_RELAXED);
  }

  void insert(std::uint64_t entry) {
    std::size_t at = hash(entry >> kValueBits) & mask_;
    while (entries_[at] != 0 && entries_[at] >> kValueBits != entry >> kValueBits) at = (at + 1) & mask_;
    count_ += entries_[at] == 0 ? 1 : 0;
    store(entries_[at], entry);
  }

  // Twice as large; where it is as large as it gets, it begins anew.
  void make_room() {
    const std::size_t size = mask_ + 1;
    if (size == kMost) return clear();
    for (std::size_t i = 0; i < size; ++i) outgrown_[i] = entries_[i];
    clear();
    store(mask_, 2 * size - 1);
    for (std::size_t i = 0; i < size; ++i)
      if (outgrown_[i] != 0) insert(outgrown_[i]);
  }

  std::size_t mask_ = kLeast - 1;
  std::size_t count_ = 0;
  alignas(64) std::uint64_t entries_[kMost] = {};
  std::uint64_t outgrown_[kMost / 2] = {};  // not on the stack, which is the program's
};
LOTUS_DIRECT extern constinit KnownCalls known_calls;

}  // namespace lotus
