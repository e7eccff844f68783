// The losses of a damaged trace, found from the headers of frames with a damaged payload, from gaps in the
// chunks' sequence numbers, and from the index, if that survived.
#pragma once

#include <cstdint>
#include <lotus/trace.hpp>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace lotus::analyzer {

// A thread of a process.
struct StreamKey {
  std::uint32_t process = 0;
  std::uint32_t stream = 0;
  bool operator<(const StreamKey& other) const {
    return std::tie(process, stream) < std::tie(other.process, other.stream);
  }
};

// A hole: missing chunks between two present ones.
struct Hole {
  StreamKey key;
  std::uint64_t from = 0, to = 0;  // ticks; UINT64_MAX: not known
  std::uint64_t chunks = 0;
  std::uint64_t events = 0;
  bool counted = true;      // `events` includes all missing chunks
  std::size_t before = 0;   // number of the chunk that follows it; kNone: none
  std::uint64_t found = 0;  // missing chunks with a known number of events
  static constexpr std::size_t kNone = SIZE_MAX;
};

class Losses {
 public:
  // A chunk that is kept, number `nth` of what the caller keeps; false: it repeats one that was added before.
  bool add_chunk(const FrameHeader& header, std::uint64_t last_ticks, std::size_t nth);
  // Records at the end of the chunk that was added last could not be read.
  void add_rest_of_chunk(const FrameHeader& header, std::uint64_t events);
  // A frame of definitions or samples that is kept.
  void add_other(const FrameHeader& header);
  // A frame whose header is right and whose payload is not.
  void add_damaged(const FrameHeader& header) { damaged_.push_back(entry_of(header)); }
  // Adds the trace's own index.
  void add_index(const IndexEntry* entries, std::size_t count);

  // Call after everything is added.
  void settle();
  // By stream and time. Losses that the traced processes counted themselves are not among them.
  const std::vector<Hole>& holes() const { return holes_; }
  // Events that are gone, of those that were counted; by process.
  const std::map<std::uint32_t, std::uint64_t>& events() const { return events_; }
  // Definition frames that are gone, by process.
  const std::map<std::uint32_t, std::uint64_t>& definitions() const { return definitions_; }
  // Stack samples that are gone, by process.
  const std::map<std::uint32_t, std::uint64_t>& samples() const { return samples_; }

 private:
  struct StreamState {
    std::uint64_t sequence = 0;
    std::uint64_t last_ticks = 0;
    std::vector<Hole> holes;
  };
  static IndexEntry entry_of(const FrameHeader& header);
  using Key = std::tuple<FrameType, std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t>;
  static Key key_of(const IndexEntry& entry);
  void add_gone(const IndexEntry& entry);
  Hole& hole_at(StreamState& state, const IndexEntry& entry);

  std::map<StreamKey, StreamState> streams_;
  std::multiset<Key> kept_;
  std::vector<IndexEntry> damaged_, indexed_;
  std::vector<Hole> holes_;
  std::map<std::uint32_t, std::uint64_t> events_, definitions_, samples_;
};

}  // namespace lotus::analyzer
