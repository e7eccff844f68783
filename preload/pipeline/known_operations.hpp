// Operations that turn up for every sample: which definition a frame has when a runner, or a sample, calls
// what it called before.
//
// To find that out, a dozen Python objects are looked at, and as many functions of CPython run, all of them
// out of the caches by then (see known_calls.hpp): 2 µs. Here it is one line. The GIL, or the state lock,
// guards the table.
#pragma once

#include <cstdint>
#include <lotus/events.hpp>

#include "python/cpython.hpp"
#include "system/hot.hpp"

namespace lotus {

struct alignas(64) KnownOperation {
  const py::Object* code = nullptr;
  const py::Object* callable = nullptr;
  const py::Type* type = nullptr;  // of the callable: another object may lie at its address
  std::uint32_t definition = 0;
  std::uint32_t name = 0;  // of the function, for snapshots; 0: there was no room for one
  OpRole role{};
  std::uint8_t uses = 0;       // before it is looked at anew
  std::uint8_t arguments = 0;  // CodeInfo's
  bool itself = false;         // the first argument has to be the callable
  bool closure = false;        // the frame's function has to be it
  bool first_in_tuple = false;
  std::int16_t first = -1;  // both CodeInfo's
};
static_assert(sizeof(KnownOperation) == 64);

class KnownOperations {
 public:
  // What runs `code` where `callable` is called in this role; nullptr: it is not known, or to be looked at
  // anew. Compares addresses: `callable` is alive, `code` too, since what freed it would have cleared the
  // table.
  KnownOperation* find(const py::Object* code, const py::Object* callable, OpRole role) {
    const std::size_t place = place_of(code, callable);
    for (const std::size_t at : {place, place ^ 1}) {
      KnownOperation& entry = entries_[at];
      if (entry.callable == callable && entry.code == code && entry.role == role &&
          entry.type == py::type_of(callable))
        return entry.uses == 0 ? nullptr : (--entry.uses, &entry);
    }
    return nullptr;
  }

  // `entry`: without its type and uses.
  void add(KnownOperation entry) {
    if (entry.definition == 0 || entry.callable == nullptr) return;
    entry.type = py::type_of(entry.callable);
    entry.uses = kUses;
    const std::size_t place = place_of(entry.code, entry.callable);
    const auto is_same = [&](const KnownOperation& other) {
      return other.callable == entry.callable && other.code == entry.code;
    };
    KnownOperation& target = entries_[place];
    KnownOperation& other = entries_[place ^ 1];
    const bool second = is_same(other) || (!is_same(target) && other.uses < target.uses);
    (second ? other : target) = entry;
  }

  // A code object is gone, or definitions are made anew. Writes to what was used only: in a forked child, a
  // page that is written to is copied.
  void clear() {
    for (KnownOperation& entry : entries_)
      if (entry.code != nullptr) entry = {};
  }

 private:
  static constexpr int kPlaceBits = 6;
  // A class may get another __call__, a dataset another loader, whose code is the old one's helper then: so
  // often it may be taken for what it was.
  static constexpr std::uint8_t kUses = 255;

  static std::size_t place_of(const py::Object* code, const py::Object* callable) {
    const std::uint64_t key =
        reinterpret_cast<std::uintptr_t>(code) * 31 + reinterpret_cast<std::uintptr_t>(callable);
    return (key >> 4) * 0x9e3779b97f4a7c15 >> (64 - kPlaceBits);
  }

  KnownOperation entries_[std::size_t{1} << kPlaceBits] = {};  // each in its own place or beside it
};
LOTUS_DIRECT extern constinit KnownOperations known_operations;

}  // namespace lotus
