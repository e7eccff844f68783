// Recovers the records that a dead process left in its open chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "segment.hpp"

namespace lotus::collector {

struct SalvagedChunk {
  ThreadSlot slot;                      // a copy
  std::vector<std::uint8_t> records{};  // whole records only
  std::uint32_t events = 0;
  std::uint64_t ticks = 0;  // of the last record
};

struct Salvage {
  std::vector<SalvagedChunk> chunks;
  std::uint32_t damaged = 0;  // slots whose values make no sense
};

// Reads the open chunk of every thread slot. Empty chunks are included: their sequence numbers say how many
// chunks came before. The process must be dead: only then do bytes and `used` match.
Salvage salvage_chunks(const Segment& segment);

// The open chunk of one slot of a process that may live: the records that are whole by now. nullopt: there is
// none, or its thread has begun another one meanwhile.
std::optional<SalvagedChunk> peek_chunk(const Segment& segment, std::uint32_t slot);

}  // namespace lotus::collector
