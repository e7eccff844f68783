#include "record/definition_ring.hpp"

namespace lotus {

bool put_record(RingWriter& ring, const RingRecord& record, const void* payload) {
  const RingWriter::Room room = ring.push(record, payload);
  if (room.call) call_collector(process.segment);
  return room.payload != nullptr;
}

bool detail::offer_definition(const std::uint8_t* bytes, std::size_t size, std::uint64_t now) {
  RingRecord record{};
  record.kind = RingKind::chunk;
  record.codec = Codec::raw;
  record.events = 1;
  record.base_ticks = now;
  record.raw_bytes = record.stored_bytes = static_cast<std::uint32_t>(size);
  return put_record(process.segment.definitions, record, bytes);
}

bool detail::send_definition(const std::uint8_t* bytes, std::size_t size, std::uint64_t now) {
  if (offer_definition(bytes, size, now)) return true;
  __atomic_fetch_add(&process.segment.header->lost_definitions, 1, __ATOMIC_RELAXED);
  return false;
}

}  // namespace lotus
