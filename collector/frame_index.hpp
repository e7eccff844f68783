// The index of a trace's frames, to be written at the trace's end. The memory is bounded, however long the
// trace grows: older entries are kept in an unnamed file beside the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <lotus/trace.hpp>
#include <span>
#include <string>
#include <vector>

#include "fd.hpp"

namespace lotus::collector {

inline constexpr std::size_t kIndexBlock = 65'536;  // entries, 2 MiB

class FrameIndex {
 public:
  // `known`: the entries of the frames that the trace has already. `trace`: its path.
  FrameIndex(std::vector<IndexEntry> known, const std::string& trace);

  // If the unnamed file cannot be made or written, all entries stay in memory.
  void append(std::span<const IndexEntry> entries);

  // Passes all entries to `take`, in order, in blocks of at most kIndexBlock. Returns false and sets errno if
  // some could not be read back.
  bool visit(const std::function<void(std::span<const IndexEntry>)>& take) const;

  std::size_t entries_in_memory() const { return recent_.size(); }

 private:
  // Moves all full blocks of `recent_` to the unnamed file.
  void spill();

  std::string directory_;
  Fd file_;
  std::uint64_t in_file_ = 0;  // entries, whole blocks
  std::vector<IndexEntry> recent_;
};

}  // namespace lotus::collector
