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
  while (const std::uint8_t* next = decode(whole, end, record)) {
    whole = next;
    if (record.kind != Kind::open) ++chunk.events;  // `open` repeats an earlier event
  }
  chunk.records.resize(static_cast<std::size_t>(whole - begin));
}

}  // namespace

Salvage salvage_chunks(const Segment& segment) {
  Salvage salvage;
  const SegmentHeader& header = segment.header();
  for (std::uint32_t i = 0; i < header.slot_count; ++i) {
    SalvagedChunk chunk{segment.slot(i), {}, 0};
    const ThreadSlot& slot = chunk.slot;
    if (slot.state != kTaken) continue;
    const bool numbered = slot.stream != 0 && slot.sequence != 0;
    if (!numbered || slot.used > header.chunk_bytes) {
      if (slot.used > 0) ++salvage.damaged;
      continue;
    }
    const std::uint8_t* const bytes = segment.chunk(i);
    chunk.records.assign(bytes, bytes + slot.used);
    keep_whole_records(chunk);
    if (!segment.torn()) salvage.chunks.push_back(std::move(chunk));
  }
  return salvage;
}

}  // namespace lotus::collector
