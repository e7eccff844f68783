// Takes stack snapshots of the calling thread and writes them to a segment like liblotus. Written from the
// contract alone.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <lotus/snapshot.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/segment_writer.hpp"

namespace lotus::test {

// The parts of a snapshot before they are encoded; a test may change them.
struct SnapshotParts {
  SnapshotHeader header{};
  std::array<std::uint64_t, kOwnRegisters.count> registers{};
  std::vector<PythonFrame> python;
  std::vector<std::uint8_t> stack;

  // Sets the end of the operation's stack: outer frames are cut off.
  void end_at(const void* entry);
  std::vector<std::uint8_t> bytes() const;
};

// A snapshot whose innermost frame is the calling function's, with at most `max_bytes` of the stack.
[[gnu::noinline]] SnapshotParts snapshot_here(std::uint32_t max_bytes = kMaxStackBytes);
// A snapshot of the code that a signal interrupted.
SnapshotParts snapshot_of(const ucontext_t& context, std::uint32_t max_bytes = kMaxStackBytes);
// The same for use in a signal handler: does not allocate, and fills `parts.stack` in its current size.
void take_snapshot(const ucontext_t& context, SnapshotParts& parts);

bool push_snapshot(SegmentWriter& segment, const std::vector<std::uint8_t>& bytes, std::uint64_t ticks);

// Writes one definition; false if the ring is full.
template <Kind K, class... Values>
bool push_definition(SegmentWriter& segment, std::uint64_t ticks, const Values&... values) {
  std::vector<std::uint8_t> bytes(encoded_bound<K>(values...));
  const std::uint8_t* end = encode<K>(bytes.data(), 0, values...);
  RingRecord record{};
  record.kind = RingKind::chunk;
  record.events = 1;
  record.base_ticks = ticks;
  record.raw_bytes = record.stored_bytes = static_cast<std::uint32_t>(end - bytes.data());
  return segment.writer(kDefinitionRing).push(record, bytes.data()).payload != nullptr;
}

// Writes definitions of the modules that were loaded or unloaded since the last call.
class ModuleTeller {
 public:
  void tell(SegmentWriter& segment, std::uint64_t ticks);
  // How many were loaded at the last call.
  std::uint64_t count() const { return told_.size(); }

 private:
  std::map<std::string, std::uint64_t> told_;  // ids, by bias and path
  std::uint64_t last_ = 0;
};

}  // namespace lotus::test
