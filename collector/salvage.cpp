#include "salvage.hpp"

#include <lotus/codec.hpp>

namespace lotus::collector {
namespace {

constexpr std::uint32_t kTaken = 1;

// Cuts `chunk` behind its last whole record; a thread may have been killed while it wrote one.
void keep_whole_records(SalvagedChunk& chunk) {
  const std::uint8_t* const begin = chunk.records.data();
  const std::uint8_t* const end = begin + chunk.records.size();
  const std::uint8_t* whole = begin;
  Record record;
  chunk.ticks = chunk.slot.base_ticks;
  while (const std::uint8_t* next = decode(whole, end, record)) {
    whole = next;
    chunk.ticks += record.dt;
    if (record.kind != Kind::open) ++chunk.events;  // `open` repeats an earlier event
  }
  chunk.records.resize(static_cast<std::size_t>(whole - begin));
}

bool makes_sense(const ThreadSlot& slot, const Segment& segment) {
  return slot.stream != 0 && slot.sequence != 0 && slot.used <= segment.header().chunk_bytes;
}

void copy_records(const Segment& segment, std::uint32_t index, SalvagedChunk& chunk) {
  const std::uint8_t* const bytes = segment.chunk(index);
  chunk.records.assign(bytes, bytes + chunk.slot.used);
}

}  // namespace

Salvage salvage_chunks(const Segment& segment) {
  Salvage salvage;
  for (std::uint32_t i = 0; i < segment.header().slot_count; ++i) {
    SalvagedChunk chunk{segment.slot(i)};
    const ThreadSlot& slot = chunk.slot;
    if (slot.state != kTaken) continue;
    if (!makes_sense(slot, segment)) {
      if (slot.used > 0) ++salvage.damaged;
      continue;
    }
    copy_records(segment, i, chunk);
    keep_whole_records(chunk);
    if (!segment.torn()) salvage.chunks.push_back(std::move(chunk));
  }
  return salvage;
}

std::optional<SalvagedChunk> peek_chunk(const Segment& segment, std::uint32_t index) {
  SalvagedChunk chunk{segment.slot(index)};
  const ThreadSlot& slot = chunk.slot;
  if (slot.state != kTaken || slot.used == 0 || !makes_sense(slot, segment)) return std::nullopt;
  copy_records(segment, index, chunk);
  // A thread counts its chunks before it writes over the last one's bytes.
  const ThreadSlot after = segment.slot(index);
  if (after.stream != slot.stream || after.sequence != slot.sequence || segment.torn()) return std::nullopt;
  keep_whole_records(chunk);
  return chunk;
}

}  // namespace lotus::collector
