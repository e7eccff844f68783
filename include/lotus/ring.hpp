// Both ends of a segment's rings (contract: segment.hpp, 4 to 6). The memory behind a ring may be
// overwritten by the other process at any time; every value read from it is checked before use.
#pragma once

#include <cstring>
#include <lotus/segment.hpp>

namespace lotus {

constexpr std::uint32_t ring_record_bytes(std::uint32_t stored_bytes) {
  return static_cast<std::uint32_t>(sizeof(RingRecord)) +
         ((stored_bytes + kRingAlign - 1) & ~(static_cast<std::uint32_t>(kRingAlign) - 1));
}

class RingWriter {
 public:
  RingWriter() = default;
  // Makes the kernel give memory for `bytes` bytes from `from` on, so that writing there cannot fail. False:
  // there is none now. Async-signal-safe.
  using Populate = bool (*)(std::uint8_t* from, std::uint64_t bytes);
  // `bytes`: size of the record area behind `header`. Both outlive the writer. With `populate`, the area has
  // no memory yet: it gets it step by step in the first lap, as short-lived processes write a small part of
  // it.
  RingWriter(RingHeader* header, std::uint64_t bytes, Populate populate = nullptr)
      : header_(header),
        data_(reinterpret_cast<std::uint8_t*>(header + 1)),
        bytes_(bytes),
        populate_(populate),
        populated_(populate == nullptr ? bytes : 0) {}

  // Room for one record, to be filled and committed. Until then the reader stops before it.
  struct Room {
    std::uint64_t position = 0;
    std::uint8_t* payload = nullptr;  // nullptr: there is no room now, or never (larger than the ring)
    bool call = false;  // this record fills a quarter of the ring: the writer must wake the reader
  };

  // Room for a record with `stored_bytes` of payload. Thread safe, async-signal-safe, lock free, does not
  // wait.
  Room reserve(std::uint32_t stored_bytes) {
    const std::uint32_t bytes = ring_record_bytes(stored_bytes);
    std::uint64_t position = __atomic_load_n(&header_->head, __ATOMIC_RELAXED);
    std::uint64_t pad = 0, filled = 0;
    do {
      const std::uint64_t rest = bytes_ - position % bytes_;
      pad = rest < bytes ? rest : 0;
      const std::uint64_t tail = __atomic_load_n(&header_->tail, __ATOMIC_ACQUIRE);
      filled = position - tail;
      if (filled > bytes_ || pad + bytes > bytes_ - filled || !has_memory(position + pad + bytes)) return {};
    } while (!__atomic_compare_exchange_n(&header_->head, &position, position + pad + bytes, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if (pad != 0) {
      RingRecord filler{};
      filler.bytes = static_cast<std::uint32_t>(pad);
      filler.kind = RingKind::pad;
      place(position, filler);
    }
    const bool call = filled < bytes_ / 4 && filled + pad + bytes >= bytes_ / 4;
    return {position + pad, data_ + (position + pad) % bytes_ + sizeof(RingRecord), call};
  }

  // Memory for the next `ahead` bytes of records, so that reserve() need not ask for it. False: there is none
  // now. Once refused, only reserve() asks again, which is called less often.
  bool prepare(std::uint64_t ahead) {
    if (__atomic_load_n(&refused_, __ATOMIC_RELAXED)) return false;
    const bool given = has_memory(__atomic_load_n(&header_->head, __ATOMIC_RELAXED) + ahead);
    if (!given) __atomic_store_n(&refused_, true, __ATOMIC_RELAXED);
    return given;
  }

  // Whether at most half of the ring is full. Writers that can wait leave the rest to those that cannot.
  bool half_empty() const {
    const std::uint64_t filled =
        __atomic_load_n(&header_->head, __ATOMIC_RELAXED) - __atomic_load_n(&header_->tail, __ATOMIC_ACQUIRE);
    return filled <= bytes_ / 2;
  }

  // Commits the room to the reader. `given`: all fields but commit and bytes; stored_bytes must not exceed
  // the reserved size.
  void commit(const Room& room, const RingRecord& given, std::uint32_t reserved_bytes) {
    RingRecord record = given;
    record.bytes = ring_record_bytes(reserved_bytes);
    place(room.position, record);
  }

  // Both, with a copy of the payload, which may be null where stored_bytes is 0.
  Room push(const RingRecord& record, const void* payload) {
    const Room room = reserve(record.stored_bytes);
    if (room.payload == nullptr) return room;
    if (record.stored_bytes > 0) std::memcpy(room.payload, payload, record.stored_bytes);
    commit(room, record, record.stored_bytes);
    return room;
  }

 private:
  static constexpr std::uint64_t kPopulateStep = 64 * 1024;  // a system call for some ten stack samples

  bool has_memory(std::uint64_t end) {
    const std::uint64_t needed = end < bytes_ ? end : bytes_;
    std::uint64_t now = __atomic_load_n(&populated_, __ATOMIC_RELAXED);
    if (needed <= now) return true;
    const std::uint64_t steps = (needed + kPopulateStep - 1) / kPopulateStep * kPopulateStep;
    const std::uint64_t then = steps < bytes_ ? steps : bytes_;
    if (!populate_(data_ + now, then - now)) return false;
    __atomic_store_n(&refused_, false, __ATOMIC_RELAXED);
    while (now < then &&
           !__atomic_compare_exchange_n(&populated_, &now, then, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return true;
  }

  void place(std::uint64_t position, const RingRecord& record) {
    auto* target = reinterpret_cast<RingRecord*>(data_ + position % bytes_);
    std::memcpy(reinterpret_cast<std::uint8_t*>(target) + sizeof target->commit,
                reinterpret_cast<const std::uint8_t*>(&record) + sizeof record.commit,
                sizeof record - sizeof record.commit);
    __atomic_store_n(&target->commit, commit_stamp(position), __ATOMIC_RELEASE);
  }

  RingHeader* header_ = nullptr;
  std::uint8_t* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  Populate populate_ = nullptr;
  std::uint64_t populated_ = 0;  // so much of the record area has memory
  bool refused_ = false;         // the last time that prepare() asked for more
};

class RingReader {
 public:
  enum class Next { record, empty, damaged };

  RingReader() = default;
  RingReader(RingHeader* header, std::uint64_t bytes)
      : header_(header), data_(reinterpret_cast<std::uint8_t*>(header + 1)), bytes_(bytes) {
    position_ = __atomic_load_n(&header->tail, __ATOMIC_ACQUIRE);
    if (position_ % kRingAlign != 0) position_ = 0;
  }

  // The next committed record: its header copied out, its payload still in the ring until release().
  // Copy the payload before you trust it. `damaged`: the bytes at the position cannot be a record; only
  // resync() finds records behind it.
  Next next(RingRecord& record, const std::uint8_t*& payload) {
    for (;;) {
      if (position_ == __atomic_load_n(&header_->head, __ATOMIC_ACQUIRE)) return Next::empty;
      const std::uint64_t offset = position_ % bytes_;
      const auto* source = reinterpret_cast<const RingRecord*>(data_ + offset);
      if (__atomic_load_n(&source->commit, __ATOMIC_ACQUIRE) != commit_stamp(position_)) return Next::empty;
      std::memcpy(&record, source, sizeof record);
      const bool fits = record.bytes >= sizeof(RingRecord) && record.bytes % kRingAlign == 0 &&
                        record.bytes <= bytes_ - offset &&
                        record.stored_bytes <= record.bytes - sizeof(RingRecord);
      if (!fits) return Next::damaged;
      if (record.kind != RingKind::pad) {
        payload = data_ + offset + sizeof(RingRecord);
        return Next::record;
      }
      release(record);
    }
  }

  // Gives the bytes of the record that next() returned back to the writers.
  void release(const RingRecord& record) {
    position_ += record.bytes;
    __atomic_store_n(&header_->tail, position_, __ATOMIC_RELEASE);
  }

  // For a dead writer only: moves to the next committed record behind a hole that a killed thread
  // left between reserving and committing. False: there is none.
  bool resync() {
    const std::uint64_t head = __atomic_load_n(&header_->head, __ATOMIC_ACQUIRE);
    if (head < position_ || head - position_ > bytes_ || head % kRingAlign != 0) return false;
    for (std::uint64_t at = position_ + kRingAlign; at < head; at += kRingAlign) {
      const auto* source = reinterpret_cast<const RingRecord*>(data_ + at % bytes_);
      if (__atomic_load_n(&source->commit, __ATOMIC_ACQUIRE) != commit_stamp(at)) continue;
      position_ = at;
      return true;
    }
    return false;
  }

  std::uint64_t position() const { return position_; }

 private:
  RingHeader* header_ = nullptr;
  std::uint8_t* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace lotus
