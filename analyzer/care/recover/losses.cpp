#include "care/recover/losses.hpp"

#include <algorithm>

namespace lotus::analyzer {
namespace {

constexpr std::uint64_t kNotKnown = UINT64_MAX;

}  // namespace

IndexEntry Losses::entry_of(const FrameHeader& header) {
  return {0, header.base_ticks, header.process, header.stream, header.events, header.type, {}};
}

// The offset is no part of the key: frames behind missing bytes have moved.
Losses::Key Losses::key_of(const IndexEntry& entry) {
  return {entry.type, entry.process, entry.stream, entry.base_ticks, entry.events};
}

bool Losses::add_chunk(const FrameHeader& header, std::uint64_t last_ticks, std::size_t nth) {
  const StreamKey key{header.process, header.stream};
  StreamState& state = streams_[key];
  if (header.sequence <= state.sequence) return false;
  const std::uint64_t missing = header.sequence - state.sequence - 1;
  if (!state.holes.empty() && state.holes.back().to == kNotKnown) {  // the rest of the chunk before
    state.holes.back().to = header.base_ticks;
    state.holes.back().before = nth;
  }
  // A process that dropped chunks counts them in the next one: then the hole need not be damage of this file.
  if (missing > 0) {
    const std::uint64_t from = state.sequence == 0 ? kNotKnown : state.last_ticks;
    const bool own = header.lost_before > 0;
    state.holes.push_back({key, from, header.base_ticks, own ? 0 : missing, 0, own, nth});
  }
  state.sequence = header.sequence;
  state.last_ticks = last_ticks;
  kept_.insert(key_of(entry_of(header)));
  return true;
}

void Losses::add_rest_of_chunk(const FrameHeader& header, std::uint64_t events) {
  StreamState& state = streams_[{header.process, header.stream}];
  state.holes.push_back(
      {{header.process, header.stream}, state.last_ticks, kNotKnown, 0, events, true, Hole::kNone});
  events_[header.process] += events;
}

void Losses::add_other(const FrameHeader& header) { kept_.insert(key_of(entry_of(header))); }

void Losses::add_index(const IndexEntry* entries, std::size_t count) {
  indexed_.insert(indexed_.end(), entries, entries + count);
}

void Losses::settle() {
  // Lost are the frames in the index that were not kept, and the frames with a damaged payload that are not
  // in the index.
  std::multiset<Key> gone;
  for (const IndexEntry& entry : indexed_) {
    const auto kept = kept_.find(key_of(entry));
    if (kept != kept_.end()) {
      kept_.erase(kept);
    } else {
      gone.insert(key_of(entry));
      add_gone(entry);
    }
  }
  for (const IndexEntry& entry : damaged_) {
    const auto same = gone.find(key_of(entry));
    if (same == gone.end())
      add_gone(entry);
    else
      gone.erase(same);
  }
  for (auto& [key, state] : streams_)
    for (Hole& hole : state.holes)
      if (hole.chunks > 0 || hole.events > 0) holes_.push_back(hole);
}

void Losses::add_gone(const IndexEntry& entry) {
  if (entry.type == FrameType::definitions) ++definitions_[entry.process];
  if (entry.type == FrameType::samples) samples_[entry.process] += entry.events;
  if (entry.type != FrameType::chunk) return;
  events_[entry.process] += entry.events;
  Hole& hole = hole_at(streams_[{entry.process, entry.stream}], entry);
  hole.events += entry.events;
}

// The hole where the chunk of an index entry was; added if no later chunk has shown one. A hole counts as
// fully counted once all of its chunks were found in the index.
Hole& Losses::hole_at(StreamState& state, const IndexEntry& entry) {
  const auto found = std::find_if(state.holes.begin(), state.holes.end(), [&](const Hole& hole) {
    const bool begun = hole.from == kNotKnown || hole.from <= entry.base_ticks;
    return hole.before != Hole::kNone && begun && entry.base_ticks <= hole.to;
  });
  if (found != state.holes.end()) {
    found->counted = ++found->found >= found->chunks;
    found->chunks = std::max(found->chunks, found->found);
    return *found;
  }
  const StreamKey key{entry.process, entry.stream};
  const bool behind =
      !state.holes.empty() && state.holes.back().before == Hole::kNone && state.holes.back().found > 0;
  if (!behind) state.holes.push_back({key, entry.base_ticks, kNotKnown, 0, 0, true, Hole::kNone});
  Hole& last = state.holes.back();
  last.chunks = ++last.found;
  return last;
}

}  // namespace lotus::analyzer
