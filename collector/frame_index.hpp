// The index of a trace's frames, to be written at the trace's end. The memory is bounded, however long the
// trace grows: older entries wait in an unnamed file beside the trace.
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
  // `known`: the frames that are there already. `trace`: the path of the trace.
  FrameIndex(std::vector<IndexEntry> known, const std::string& trace);

  // If the unnamed file cannot be made or written, all entries stay in memory.
  void append(std::span<const IndexEntry> entries);

  // Gives all entries, in order, in blocks of kIndexBlock at most. False with errno set: some could not be
  // read back.
  bool visit(const std::function<void(std::span<const IndexEntry>)>& take) const;

  std::size_t entries_in_memory() const { return recent_.size(); }

 private:
  void put_by();

  std::string directory_;
  Fd file_;
  std::uint64_t in_file_ = 0;  // entries, whole blocks
  std::vector<IndexEntry> recent_;
};

}  // namespace lotus::collector
