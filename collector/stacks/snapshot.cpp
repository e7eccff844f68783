#include "snapshot.hpp"

#include <cstring>

namespace lotus::collector {
namespace {

// False: `bytes` are no counts.
bool parse_counts(Bytes bytes, std::vector<SnapshotCount>& counts) {
  std::uint64_t count = 0;
  if (bytes.size() < sizeof count) return false;
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes = bytes.subspan(sizeof count);
  if (count > kMaxCounters || bytes.size() != count * sizeof(SnapshotCount)) return false;
  counts.resize(count);
  if (count > 0) std::memcpy(counts.data(), bytes.data(), bytes.size());
  return true;
}

}  // namespace

std::optional<Snapshot> parse_snapshot(Bytes payload) {
  Snapshot snapshot;
  if (payload.size() < sizeof snapshot.header) return std::nullopt;
  std::memcpy(&snapshot.header, payload.data(), sizeof snapshot.header);
  payload = payload.subspan(sizeof snapshot.header);
  const SnapshotHeader& header = snapshot.header;
  snapshot.numbers = registers_of(header.machine);
  const std::size_t register_bytes = snapshot.numbers.count * sizeof(std::uint64_t);
  if (register_bytes == 0 || payload.size() < register_bytes) return std::nullopt;
  std::memcpy(snapshot.registers.data(), payload.data(), register_bytes);
  payload = payload.subspan(register_bytes);
  const std::size_t python_bytes = header.python_frames * sizeof(PythonFrame);
  if (header.python_frames > kMaxPythonFrames || header.stack_bytes > kMaxStackBytes ||
      payload.size() < python_bytes + header.stack_bytes)
    return std::nullopt;
  const Bytes behind = payload.subspan(python_bytes + header.stack_bytes);
  const bool carries = (header.flags & kCarriesCounts) != 0;
  if (carries ? !parse_counts(behind, snapshot.counts) : !behind.empty()) return std::nullopt;
  std::uint64_t above = snapshot.stack_pointer();
  for (std::uint32_t i = 0; i < header.python_frames; ++i) {
    PythonFrame frame;
    std::memcpy(&frame, payload.data() + i * sizeof frame, sizeof frame);
    if (frame.address < above) break;
    if (header.entry != 0 && frame.address > header.entry) break;
    above = frame.address + ((frame.flags & kInEvaluator) != 0 ? 0 : 1);
    snapshot.python.push_back(frame);
  }
  snapshot.stack = payload.subspan(python_bytes, header.stack_bytes);
  return snapshot;
}

}  // namespace lotus::collector
