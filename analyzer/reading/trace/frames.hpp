// The frames of a trace file, one after the other, also where bytes are damaged or missing.
#pragma once

#include <cstdint>
#include <optional>

#include "reading/trace/damage.hpp"
#include "reading/trace/frame.hpp"
#include "reading/trace/source.hpp"

namespace lotus::analyzer {

class FrameCursor {
 public:
  // Walks source's bytes from `begin` to the size that the source had when it was opened.
  FrameCursor(const Source& source, std::uint64_t begin);

  // The next frame whose header is right and whose payload lies inside the file. What stands in
  // between is counted as damage; false at the end of what can be read.
  bool next(Frame& frame);

  std::uint64_t position() const { return position_; }
  const Damage& damage() const { return damage_; }
  // Where the frame begins that the end of the file cuts off, if it does.
  std::optional<std::uint64_t> cut_off() const { return cut_off_; }

 private:
  enum class At { frame, overruns, garbage, end };
  At look(std::uint64_t offset, Frame& frame) const;
  bool search(std::uint64_t from, Frame& frame) const;
  std::uint64_t search_begins();
  bool resync(At reason, Frame& frame);

  const Source& source_;
  std::uint64_t end_;
  std::uint64_t position_;
  Frame last_;
  std::uint64_t again_ = 0;  // bytes of payloads that were searched
  Damage damage_;
  std::optional<std::uint64_t> cut_off_;
};

}  // namespace lotus::analyzer
