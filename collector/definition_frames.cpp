#include "definition_frames.hpp"

#include <utility>

namespace lotus::collector {
namespace {

struct WholeRecords {
  const std::uint8_t* end = nullptr;  // behind the last one
  std::uint64_t ticks = 0;            // sum of their dt
  std::uint64_t first_dt = 0;
  std::uint32_t count = 0;
};

WholeRecords find_definitions(Bytes payload) {
  WholeRecords found;
  found.end = payload.data();
  const std::uint8_t* const end = payload.data() + payload.size();
  Record record;
  while (const std::uint8_t* next = decode(found.end, end, record)) {
    if (record.shape != Shape::definition) break;
    if (found.count++ == 0) found.first_dt = record.dt;
    found.ticks += record.dt;
    found.end = next;
  }
  return found;
}

}  // namespace

bool DefinitionJoiner::append(Bytes payload, std::uint64_t base_ticks, std::optional<DefinitionBody>& full) {
  const WholeRecords found = find_definitions(payload);
  const bool clean = found.end == payload.data() + payload.size();
  if (found.count == 0) return clean;
  const std::uint64_t first = base_ticks + found.first_dt;
  if (!body_.bytes.empty() && (first < last_ticks_ || body_.bytes.size() > kLargeBody)) full = take();
  if (body_.bytes.empty()) body_.base_ticks = last_ticks_ = base_ticks;
  // The first record gets a new dt, all that follows it is taken over as it is.
  std::uint8_t head[1 + kMaxVarint] = {payload.front()};
  const std::uint8_t* const head_end = put_varint(head + 1, first - last_ticks_);
  std::uint64_t old_dt = 0;
  const std::uint8_t* const rest = get_varint(payload.data() + 1, found.end, old_dt);
  body_.bytes.insert(body_.bytes.end(), static_cast<const std::uint8_t*>(head), head_end);
  body_.bytes.insert(body_.bytes.end(), rest, found.end);
  body_.events += found.count;
  last_ticks_ = base_ticks + found.ticks;
  return clean;
}

DefinitionBody DefinitionJoiner::take() {
  last_ticks_ = 0;
  return std::exchange(body_, DefinitionBody{});
}

}  // namespace lotus::collector
