// Reads a ring ahead of its tail: the bytes are given back to the writers only after the records are in the
// trace file (RingReader gives them back record by record).
#pragma once

#include <algorithm>
#include <cstring>
#include <lotus/ring.hpp>

namespace lotus::collector {

class RingCursor {
 public:
  enum class Next {
    record,   // one was copied out
    end,      // nothing more is there
    hole,     // reserved but not committed: being written, or its writer died
    damaged,  // the bytes here cannot be a record
  };

  RingCursor() = default;
  // `bytes`: size of the ring behind `header`, checked by the caller. If the tail is impossible, reading
  // starts at the head: records before it cannot be told from those of older laps.
  RingCursor(RingHeader* header, std::uint64_t bytes)
      : header_(header), data_(reinterpret_cast<const std::uint8_t*>(header + 1)), bytes_(bytes) {
    position_ = __atomic_load_n(&header->tail, __ATOMIC_ACQUIRE);
    if (plausible(head())) return;
    sound_ = false;
    position_ = head() & ~(std::uint64_t{kRingAlign} - 1);
  }

  std::uint64_t head() const { return __atomic_load_n(&header_->head, __ATOMIC_ACQUIRE); }
  std::uint64_t position() const { return position_; }
  std::uint64_t bytes() const { return bytes_; }
  // The part of the ring between two positions, 0 to 1.
  double share(std::uint64_t from, std::uint64_t to) const {
    return std::min(1.0, static_cast<double>(to - from) / static_cast<double>(bytes_));
  }
  // False if the ring's tail was not usable when it was found.
  bool found_sound() const { return sound_; }

  // The record at the position, if it lies before `limit` (a value of head()). `payload` stays in shared
  // memory: copy it before you trust it.
  Next next(std::uint64_t limit, RingRecord& record, const std::uint8_t*& payload) {
    for (;;) {
      if (position_ == limit) return Next::end;
      if (!plausible(limit)) return Next::damaged;
      const std::uint64_t offset = position_ % bytes_;
      const auto* source = reinterpret_cast<const RingRecord*>(data_ + offset);
      if (__atomic_load_n(&source->commit, __ATOMIC_ACQUIRE) != commit_stamp(position_)) return Next::hole;
      std::memcpy(&record, source, sizeof record);
      const bool fits = record.bytes >= sizeof record && record.bytes % kRingAlign == 0 &&
                        record.bytes <= bytes_ - offset && record.bytes <= limit - position_ &&
                        record.stored_bytes <= record.bytes - sizeof record;
      if (!fits) return Next::damaged;
      payload = data_ + offset + sizeof record;
      if (record.kind != RingKind::pad) return Next::record;
      advance(record);
    }
  }

  void advance(const RingRecord& record) { position_ += record.bytes; }

  // For a dead writer only: moves to the next committed record behind a hole or a damaged record. False:
  // there is none before `limit`, and the position is `limit` if that is at all plausible.
  bool resync(std::uint64_t limit) {
    if (!plausible(limit)) return false;
    while (position_ != limit) {
      position_ += kRingAlign;
      const auto* source = reinterpret_cast<const RingRecord*>(data_ + position_ % bytes_);
      if (position_ != limit && __atomic_load_n(&source->commit, __ATOMIC_ACQUIRE) == commit_stamp(position_))
        return true;
    }
    return false;
  }

  // Gives everything before the position back to the writers.
  void give_back() { __atomic_store_n(&header_->tail, position_, __ATOMIC_RELEASE); }

 private:
  bool plausible(std::uint64_t limit) const {
    return position_ % kRingAlign == 0 && limit % kRingAlign == 0 && limit - position_ <= bytes_;
  }

  RingHeader* header_ = nullptr;
  const std::uint8_t* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t position_ = 0;
  bool sound_ = true;
};

}  // namespace lotus::collector
