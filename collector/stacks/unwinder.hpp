// Finds the frames of a snapshot, from its registers and stack bytes and the rules of the binaries' unwind
// tables.
#pragma once

#include <cstdint>
#include <vector>

#include "stacks/modules.hpp"
#include "stacks/snapshot.hpp"
#include "stacks/unwind_rules.hpp"

namespace lotus::collector {

struct NativeFrame {
  std::uint64_t address;  // common, or the process's own outside of known modules; a return address less 1
  std::uint64_t cfa;      // the stack below it belongs to this frame or to inner ones
  LocationId location;    // as given to keep_location(), 0: none
};

struct Unwound {
  std::vector<NativeFrame> frames;  // innermost first; at least the interrupted one
  bool cut = false;                 // frames outside of the last one are missing
  bool behind_snapshot = false;     // … because the stack was not copied that far
  std::uint64_t unknown = 0;        // … because no module is known at this address
};

class Unwinder {
 public:
  // `binaries` outlives the unwinder.
  explicit Unwinder(Binaries& binaries) : binaries_(binaries), rules_(binaries) {}

  // The frames up to the snapshot's `entry`. Call modules.look_at() with the snapshot's time before. The
  // result is valid until the next call.
  const Unwound& unwind(const Snapshot& snapshot, const Modules& modules);

  // Sets the location that later calls of unwind() return with each frame at the address.
  void keep_location(std::uint64_t address, LocationId location) { rules_.keep_location(address, location); }

  // The function that has an unwind entry around `offset`; empty if there is none.
  std::optional<FunctionExtent> function_at(BinaryId binary, std::uint64_t offset) {
    return rules_.function_at(binary, offset);
  }

 private:
  Binaries& binaries_;
  UnwindRules rules_;
  Unwound result_;
};

}  // namespace lotus::collector
