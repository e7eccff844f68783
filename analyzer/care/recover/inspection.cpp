#include "care/recover/inspection.hpp"

namespace lotus::analyzer {

void Inspector::learn(const Frame& frame) {
  std::span<const std::uint8_t> body;
  if (payload_.read(frame, body)) schema_.parse(body);
}

Inspected Inspector::inspect(const Frame& frame) {
  const FrameType type = frame.header.type;
  Inspected found;
  if (!payload_.read(frame, found.body)) {
    found.problem = payload_.problem();
    return found;
  }
  if (holds_records(type)) return inspect_records(frame, found.body);
  found.usable = found.body.size() >= structure_bytes(type);
  if (type == FrameType::index) found.usable = found.body.size() % sizeof(IndexEntry) == 0;
  if (type == FrameType::schema) found.usable = FileSchema().parse(found.body);
  found.whole = found.usable;
  found.last_ticks = frame.header.base_ticks;
  if (!found.usable) found.problem = "its content is not what its type promises";
  return found;
}

Inspected Inspector::inspect_records(const Frame& frame, std::span<const std::uint8_t> body) const {
  Inspected found;
  const std::uint8_t* in = body.data();
  const std::uint8_t* const end = in + body.size();
  found.last_ticks = frame.header.base_ticks;
  Record record;
  while (in < end) {
    const std::uint8_t* next = decode_known(in, end, record, schema_);
    if (next == nullptr) break;
    in = next;
    found.last_ticks += record.dt;
    if (record.kind != Kind::open) ++found.events;
  }
  found.body = body.first(static_cast<std::size_t>(in - body.data()));
  found.whole = in == end;
  found.usable = found.whole || found.events > 0;
  if (!found.whole) found.problem = "its records end in bytes that are none";
  return found;
}

}  // namespace lotus::analyzer
