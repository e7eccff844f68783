// A frame of a trace file: where it lies, and what its header says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/trace.hpp>

namespace lotus::analyzer {

struct Frame {
  FrameHeader header{};
  std::uint64_t offset = 0;  // of the header in the file

  std::uint64_t payload() const { return offset + sizeof(FrameHeader); }
  std::uint64_t end() const { return payload() + header.stored_bytes; }
};

// Chunks, definitions and samples, open chunks: the payload is records.
inline bool holds_records(FrameType type) {
  return type == FrameType::chunk || type == FrameType::definitions || type == FrameType::samples ||
         type == FrameType::open_chunk;
}
// Size of the structure at the start of a payload; 0 if there is none, or the frame's type is not known.
std::size_t structure_bytes(FrameType type);

}  // namespace lotus::analyzer
