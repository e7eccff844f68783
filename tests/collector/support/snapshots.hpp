// Takes stack snapshots of the calling thread and hands them on, as liblotus does, from the contract alone.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <lotus/snapshot.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/segment_writer.hpp"

namespace lotus::test {

// A snapshot before it is bytes; change what a test is about.
struct SnapshotParts {
  SnapshotHeader header{};
  std::vector<PythonFrame> python;
  std::vector<std::uint8_t> stack;

  // Frames outside of this stack address are not the operation's; the stack is cut there.
  void end_at(const void* entry);
  std::vector<std::uint8_t> bytes() const;
};

// The calling function's snapshot: its frame is the innermost. At most `max_bytes` of the stack.
[[gnu::noinline]] SnapshotParts snapshot_here(std::uint32_t max_bytes = kMaxStackBytes);
// Of what a signal interrupted.
SnapshotParts snapshot_of(const ucontext_t& context, std::uint32_t max_bytes = kMaxStackBytes);
// The same for a signal handler, without allocating: as much of the stack as `parts.stack` has room for.
void take_snapshot(const ucontext_t& context, SnapshotParts& parts);

bool push_snapshot(SegmentWriter& segment, const std::vector<std::uint8_t>& bytes, std::uint64_t ticks);

// One definition.
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

// Defines what this process has loaded now and has not been defined before, and what is gone since.
class ModuleTeller {
 public:
  void tell(SegmentWriter& segment, std::uint64_t ticks);

 private:
  std::map<std::string, std::uint64_t> told_;  // ids, by bias and path
  std::uint64_t last_ = 0;
};

}  // namespace lotus::test
