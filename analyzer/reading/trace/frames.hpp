// Walks the frames of a trace file, and continues behind damaged or missing bytes.
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

  // The next frame with a valid header and a payload inside the file. Bytes before it are counted as damage.
  // False: there is none.
  bool next(Frame& frame);

  std::uint64_t position() const { return position_; }
  const Damage& damage() const { return damage_; }
  // The start of a frame that is cut off by the end of the file, if there is one.
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
