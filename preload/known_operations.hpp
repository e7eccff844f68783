// Operations that turn up for every sample: which definition a frame has when a runner, or a sample, calls
// what it called before.
//
// To find that out, a dozen Python objects are looked at, and as many functions of CPython run, all of them
// out of the caches by then (see known_calls.hpp): 2 µs. Here it is one line. The GIL guards the table.
#pragma once

#include <cstdint>
#include <lotus/events.hpp>

#include "evaluator.hpp"

namespace lotus {

class KnownOperations {
 public:
  // The definition of what runs `code` where `callable` is called in this role; 0: it is not known, or to be
  // looked at anew. Compares addresses: `callable` is alive, `code` too, since what freed it would have
  // cleared the table.
  std::uint32_t find(const py::Object* code, const py::Object* callable, OpRole role) {
    for (Entry& entry : line_of(code, callable).entries) {
      if (entry.callable != callable || entry.code != code || entry.role != role ||
          entry.type != py::type_of(callable))
        continue;
      return entry.uses == 0 ? 0 : (--entry.uses, entry.definition);
    }
    return 0;
  }

  void add(const py::Object* code, const py::Object* callable, OpRole role, std::uint32_t definition) {
    if (definition == 0 || callable == nullptr) return;
    Line& line = line_of(code, callable);
    Entry* target = &line.entries[0];
    for (Entry& entry : line.entries) {
      if (entry.callable == callable && entry.code == code) {
        target = &entry;
        break;
      }
      if (entry.uses < target->uses) target = &entry;
    }
    *target = {code, callable, py::type_of(callable), definition, role, kUses};
  }

  // A code object is gone, or definitions are made anew.
  void clear() {
    for (Line& line : lines_) line = {};
  }

 private:
  static constexpr int kLineBits = 7;
  // A class may get another __call__, a dataset another loader, whose code is the old one's helper then: so
  // often it may be taken for what it was.
  static constexpr std::uint16_t kUses = 255;

  struct Entry {
    const py::Object* code = nullptr;
    const py::Object* callable = nullptr;
    const py::Type* type = nullptr;  // of the callable: another object may lie at its address
    std::uint32_t definition = 0;
    OpRole role{};
    std::uint16_t uses = 0;  // before it is looked at anew
  };
  struct alignas(64) Line {
    Entry entries[2] = {};
  };
  static_assert(sizeof(Line) == 64);

  Line& line_of(const py::Object* code, const py::Object* callable) {
    const std::uint64_t key =
        reinterpret_cast<std::uintptr_t>(code) * 31 + reinterpret_cast<std::uintptr_t>(callable);
    return lines_[(key >> 4) * 0x9e3779b97f4a7c15 >> (64 - kLineBits)];
  }

  Line lines_[std::size_t{1} << kLineBits] = {};
};
extern constinit KnownOperations known_operations;

}  // namespace lotus
