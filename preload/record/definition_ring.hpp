// What goes into the segment's rings: whole records, definitions among them.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>

#include "record/process.hpp"
#include "system/clock.hpp"

namespace lotus {

// Puts a record into a ring of this process's segment. False: there was no room.
bool put_record(RingWriter& ring, const RingRecord& record, const void* payload);

namespace detail {
// False: there was no room; `send_definition` counts it as lost.
bool offer_definition(const std::uint8_t* bytes, std::size_t size, std::uint64_t now);
bool send_definition(const std::uint8_t* bytes, std::size_t size, std::uint64_t now);
}  // namespace detail

// Sends a definition at once, through a ring of its own. False: no room now. For threads that have their
// recorder; see define().
template <Kind K, class... Values>
bool send(const Values&... values) {
  static_assert(info(K).shape == Shape::definition);
  std::uint8_t bytes[8 * 1024];
  if (encoded_bound<K>(values...) > sizeof bytes) return false;
  const std::uint8_t* end = encode<K>(bytes, 0, values...);
  return detail::send_definition(bytes, static_cast<std::size_t>(end - bytes), ticks_now());
}

}  // namespace lotus
