#include "traced_process.hpp"

#include <algorithm>
#include <utility>

#include "clock.hpp"
#include "standing_frames.hpp"

namespace lotus::collector {
namespace {

// How long events wait for a definition before them that is still being written.
constexpr std::uint64_t kDefinitionPatience = kSecond;

// How long a snapshot waits for the definition of a module that it needs.
constexpr std::uint64_t kModulePatience = 300 * kMillisecond;

// How long snapshots gather in their ring, or how full it gets: a frame with few samples is mostly header.
constexpr std::uint64_t kSnapshotPause = kSecond;
constexpr double kSnapshotShare = 3.0 / 16;  // of the ring; below what collector.cpp waits for

// Chunks that stay open so long are shown in the file, and again each time that they are twice as old.
constexpr std::uint64_t kOpenAge = 5 * kSecond;
constexpr std::uint64_t kLookPause = kSecond;

constexpr std::uint64_t kStatePause = kSecond;

// How long one process may take to have its snapshots unwound before the others are visited again.
constexpr std::uint64_t kUnwindBudget = 20 * kMillisecond;
// The same when the collector ends: enough for a full ring whose libraries are all opened for the first time,
// but a bound on rings that were crafted to be slow.
constexpr std::uint64_t kLastUnwindBudget = 10 * kSecond;

// Whether `stored` agrees with `record`, as far as this is visible without decompressing it.
bool plausible(const RingRecord& record, Bytes stored) {
  if (record.kind != RingKind::chunk || record.raw_bytes > kMaxRawFrame) return false;
  // No record is shorter than its code and its dt.
  if (record.events > record.raw_bytes / 2) return false;
  if (record.codec == Codec::raw) return record.stored_bytes == record.raw_bytes;
  return record.codec == Codec::zstd && is_zstd_frame(stored, record.raw_bytes);
}

// Adds a record of the collector's own to the thread's.
template <Kind K, class... Values>
void add(SalvagedChunk& chunk, std::uint64_t later, const Values&... values) {
  std::vector<std::uint8_t>& records = chunk.records;
  const std::size_t bytes = records.size();
  records.resize(bytes + encoded_bound<K>(values...));
  const std::uint8_t* const end = encode<K>(records.data() + bytes, later, values...);
  records.resize(static_cast<std::size_t>(end - records.data()));
}

}  // namespace

TracedProcess::TracedProcess(std::unique_ptr<Segment> segment, ProcessWatch watch)
    : segment_(std::move(segment)), watch_(std::move(watch)) {
  now_.definitions = segment_->ring(kDefinitionRing);
  now_.events = segment_->ring(kEventRing);
  now_.snapshots = segment_->ring(kStackRing);
  for (const RingCursor* ring : {&now_.definitions, &now_.events, &now_.snapshots})
    if (!ring->found_sound()) ++now_.damaged;
  filling();
  commit();
}

void TracedProcess::enter_trace(std::uint32_t number, ScannedProcess* earlier, Stacks& stacks) {
  number_ = number;
  stacks_ = std::make_unique<ProcessStacks>(stacks, segment_->header().pid, segment_->header().created.ticks);
  // The ring says that an earlier collector wrote these definitions, but the file lacks them: its end was cut
  // off.
  missing_definitions_ =
      now_.definitions.position() > (earlier == nullptr ? 0 : earlier->definitions_read) ? 1 : 0;
  if (earlier == nullptr) return;
  for (const DefinitionBody& body : earlier->definitions) stacks_->define(body.bytes, body.base_ticks);
  snapshots_had_ = earlier->snapshots_read;
  sequences_ = std::move(earlier->sequences);
  definitions_had_ = earlier->definitions_read;
  written_before_ = earlier->ended;
  now_.announced = committed_.announced = true;
}

bool TracedProcess::dead() {
  if (!dead_) dead_ = segment_->finished() || !watch_.alive();
  return dead_;
}

Filling TracedProcess::gather(TraceFile& file, Packer& packer, std::uint64_t now_ns, bool all) {
  announce(file);
  // The head is read before the definitions are: so all chunks before it find their definitions.
  const std::uint64_t limit = now_.events.head();
  const std::uint64_t snapshot_limit = now_.snapshots.head();
  const bool complete = gather_definitions(file, packer);
  if (!definitions_may_wait(now_ns, complete)) {
    gather_chunks(file, limit);
    if (snapshots_are_due(snapshot_limit, now_ns) || all)
      gather_snapshots(file, packer, snapshot_limit, now_ns, all);
  }
  return filling();
}

Filling TracedProcess::filling() {
  Filling most;
  std::uint64_t* seen = seen_heads_;
  for (const RingCursor* ring : {&now_.definitions, &now_.events, &now_.snapshots}) {
    const std::uint64_t head = ring->head();
    const double left = ring->share(ring->position(), head), grown = ring->share(*seen, head);
    if (ring == &now_.definitions)
      most.take_most({left, 0, grown});
    else
      most.take_most({left, grown, 0});
    *seen++ = head;
  }
  return most;
}

double TracedProcess::fill() const { return now_.events.share(now_.events.position(), now_.events.head()); }

void TracedProcess::announce(TraceFile& file) {
  if (now_.announced) return;
  const SegmentHeader& header = segment_->header();
  const ProcessFrame frame{header.pid, header.parent_pid, header.start_time, header.created};
  file.add_raw(frame_header(FrameType::process, number_), bytes_of(frame));
  now_.announced = true;
}

// Events in the ring may need a definition that its thread has not committed yet. It usually follows in a
// moment, but a thread that never commits it must not block the others.
bool TracedProcess::definitions_may_wait(std::uint64_t now_ns, bool complete) {
  if (complete || dead_) {
    hole_since_ns_ = 0;
    return false;
  }
  if (hole_since_ns_ == 0) hole_since_ns_ = now_ns;
  return now_ns - hole_since_ns_ < kDefinitionPatience;
}

// Calls take(record, payload) for each record before `limit`, until that returns false. False: a record
// before `limit` cannot be read (yet).
template <class Take>
bool TracedProcess::read_ring(RingCursor& ring, std::uint64_t limit, Take take) {
  RingRecord record;
  const std::uint8_t* payload = nullptr;
  for (;;) {
    const RingCursor::Next next = ring.next(limit, record, payload);
    if (segment_->torn() || next == RingCursor::Next::end) return true;
    if (next == RingCursor::Next::record) {
      if (!take(record, payload)) return true;
      ring.advance(record);
      continue;
    }
    if (!dead_) return false;
    ++now_.damaged;
    if (!ring.resync(limit)) return true;
  }
}

bool TracedProcess::gather_definitions(TraceFile& file, Packer& packer) {
  RingCursor& ring = now_.definitions;
  const std::uint64_t limit = ring.head();
  if (limit == ring.position()) return true;
  DefinitionJoiner joiner;
  const bool complete = read_ring(ring, limit, [&](const RingRecord& record, const std::uint8_t* payload) {
    take_definitions(record, payload, joiner, file, packer);
    return true;
  });
  write_definitions(file, packer, joiner.take(), ring.position());
  return complete;
}

void TracedProcess::take_definitions(const RingRecord& record, const std::uint8_t* payload,
                                     DefinitionJoiner& joiner, TraceFile& file, Packer& packer) {
  const std::uint64_t position = now_.definitions.position();
  if (position < definitions_had_) return;
  scratch_.assign(payload, payload + record.stored_bytes);
  if (segment_->torn()) return;
  if (!plausible(record, scratch_) || record.raw_bytes > kLargeBody) {
    ++now_.damaged;
    return;
  }
  const auto raw = record.codec == Codec::raw ? std::optional(scratch_) : unpack(scratch_, record.raw_bytes);
  std::optional<DefinitionBody> full;
  if (!raw || !joiner.append(*raw, record.base_ticks, full)) ++now_.damaged;
  if (raw) stacks_->define(*raw, record.base_ticks);
  if (full) write_definitions(file, packer, *full, position);
}

void TracedProcess::write_definitions(TraceFile& file, Packer& packer, const DefinitionBody& body,
                                      std::uint64_t position) const {
  if (body.events == 0) return;
  FrameHeader header = frame_header(FrameType::definitions, number_);
  header.base_ticks = body.base_ticks;
  header.events = body.events;
  // Tells a later collector which definitions are in the file already.
  header.sequence = position;
  file.add_packed(header, body.bytes, packer);
}

void TracedProcess::gather_chunks(TraceFile& file, std::uint64_t limit) {
  read_ring(now_.events, limit, [&](const RingRecord& record, const std::uint8_t* payload) {
    take_chunk(record, payload, file);
    return true;
  });
}

bool TracedProcess::snapshots_are_due(std::uint64_t limit, std::uint64_t now_ns) {
  const std::uint64_t waiting = limit - now_.snapshots.position();
  if (snapshots_since_ns_ == 0) snapshots_since_ns_ = now_ns;
  return waiting == 0 || dead_ || now_.snapshots.share(now_.snapshots.position(), limit) > kSnapshotShare ||
         now_ns - snapshots_since_ns_ >= kSnapshotPause;
}

void TracedProcess::gather_snapshots(TraceFile& file, Packer& packer, std::uint64_t limit,
                                     std::uint64_t now_ns, bool all) {
  RingCursor& ring = now_.snapshots;
  const std::uint64_t begin = ring.position();
  const std::uint64_t until_ns = monotonic_ns() + (all ? kLastUnwindBudget : kUnwindBudget);
  more_to_unwind_ = false;
  const bool crowded = limit - ring.position() > ring.bytes() / 2;
  read_ring(ring, limit, [&](const RingRecord& record, const std::uint8_t* payload) {
    const bool enough = ring.position() != begin && monotonic_ns() >= until_ns;
    if (enough && all) {
      ++now_.skipped_snapshots;
      return true;
    }
    more_to_unwind_ = enough;
    return !enough && take_snapshot(record, payload, crowded, now_ns);
  });
  if (ring.position() == limit) {
    stacks_->caught_up();
    snapshots_since_ns_ = 0;
  }
  stacks_->write(file, packer, number_, ring.position());
}

// False: the snapshot stays in the ring for now. `crowded`: the ring is too full to wait.
bool TracedProcess::take_snapshot(const RingRecord& record, const std::uint8_t* payload, bool crowded,
                                  std::uint64_t now_ns) {
  if (stacks_->full() && !dead_) return false;
  if (now_.snapshots.position() < snapshots_had_) return true;
  scratch_.assign(payload, payload + record.stored_bytes);
  if (segment_->torn()) return true;
  const bool sound = record.kind == RingKind::snapshot && record.codec == Codec::raw &&
                     record.raw_bytes == record.stored_bytes;
  const bool waited = snapshot_waits_since_ns_ != 0 && now_ns - snapshot_waits_since_ns_ >= kModulePatience;
  const auto taken =
      sound ? stacks_->take(record, scratch_, !dead_ && !crowded && !waited) : ProcessStacks::Taken::damaged;
  if (taken == ProcessStacks::Taken::waits) {
    if (snapshot_waits_since_ns_ == 0) snapshot_waits_since_ns_ = now_ns;
    return false;
  }
  snapshot_waits_since_ns_ = 0;
  if (taken == ProcessStacks::Taken::damaged) ++now_.damaged;
  return true;
}

void TracedProcess::take_chunk(const RingRecord& record, const std::uint8_t* payload, TraceFile& file) {
  scratch_.assign(payload, payload + record.stored_bytes);
  if (segment_->torn()) return;
  if (!plausible(record, scratch_) || record.stream == 0 || record.sequence == 0) {
    ++now_.damaged;
    return;
  }
  if (!is_new(record.stream, record.sequence)) return;
  FrameHeader header = frame_header(FrameType::chunk, number_);
  header.codec = record.codec;
  header.raw_bytes = record.raw_bytes;
  header.stream = record.stream;
  header.sequence = record.sequence;
  header.base_ticks = record.base_ticks;
  header.lost_before = record.lost_before;
  header.events = record.events;
  file.add_stored(header, scratch_);
}

// A stream's chunks come in order, so one that does not follow the last is in the file already: a collector
// wrote it and was killed before it released the ring, or a thread handed it on and died before it emptied
// its open chunk.
bool TracedProcess::is_new(std::uint32_t stream, std::uint64_t sequence) {
  std::uint64_t& last = sequences_[stream];
  if (sequence <= last) return false;
  replaced_sequences_.emplace_back(stream, last);
  last = sequence;
  return true;
}

// The sequence number of an empty open chunk says that others came before it. If the file lacks them, its end
// was cut off after they had left the ring.
bool TracedProcess::says_something(const SalvagedChunk& chunk) const {
  if (chunk.events > 0 || chunk.slot.lost_before > 0) return true;
  const auto last = sequences_.find(chunk.slot.stream);
  return chunk.slot.sequence - 1 > (last == sequences_.end() ? 0 : last->second);
}

FrameHeader TracedProcess::header_of(FrameType type, const SalvagedChunk& chunk) const {
  FrameHeader header = frame_header(type, number_);
  header.stream = chunk.slot.stream;
  header.sequence = chunk.slot.sequence;
  header.base_ticks = chunk.slot.base_ticks;
  header.lost_before = chunk.slot.lost_before;
  header.events = chunk.events;
  return header;
}

void TracedProcess::gather_open(TraceFile& file, Packer& packer, std::uint64_t now_ns) {
  if (now_ns < next_look_ns_ || dead_) return;
  next_look_ns_ = now_ns + kLookPause;
  for (std::uint32_t i = 0; i < segment_->header().slot_count; ++i) {
    const ThreadSlot slot = segment_->slot(i);
    if (slot.stream == 0 || slot.used == 0) continue;
    OpenChunk& open = open_chunks_[slot.stream];
    if (open.sequence != slot.sequence) open = {slot.sequence, now_ns, now_ns + kOpenAge};
    if (now_ns < open.due_ns) continue;
    if (auto chunk = peek_chunk(*segment_, i)) write_open(file, packer, *std::move(chunk));
    open.due_ns = now_ns + (now_ns - open.since_ns);
  }
}

// Looked at only while nothing comes: a file of /proc is read for it.
void TracedProcess::gather_stop(TraceFile& file, Packer& packer, std::uint64_t now_ns) {
  const SegmentHeader& segment = segment_->header();
  const std::uint64_t ticks = read_clock_pair(segment.clock_source, segment.tick_shift).ticks;
  visited_ticks_ = ticks;
  if (now_ns < next_state_ns_ || dead_) return;
  next_state_ns_ = now_ns + kStatePause;
  std::uint64_t heads = 0;
  for (const std::uint64_t head : seen_heads_) heads += head;
  const bool silent = heads == std::exchange(heads_before_, heads);
  if (silent && watch_.stopped()) {
    if (now_.stopped_since == 0) now_.stopped_since = ticks;
    now_.stopped_ticks = ticks - now_.stopped_since;
    return;
  }
  if (now_.stopped_since == 0) return;
  DefinitionBody body;
  body.bytes.resize(encoded_bound<Kind::stopped>(std::uint64_t{0}, std::uint64_t{0}));
  const std::uint8_t* end =
      encode<Kind::stopped>(body.bytes.data(), 0, now_.stopped_since, now_.stopped_ticks);
  body.bytes.resize(static_cast<std::size_t>(end - body.bytes.data()));
  body.base_ticks = ticks;
  body.events = 1;
  write_definitions(file, packer, body, now_.definitions.position());
  now_.stopped_since = 0;
}

void TracedProcess::note_standstill() {
  if (visited_ticks_ == 0 || now_.stopped_since != 0) return;
  const SegmentHeader& segment = segment_->header();
  now_.stopped_since = visited_ticks_;
  now_.stopped_ticks = read_clock_pair(segment.clock_source, segment.tick_shift).ticks - visited_ticks_;
  next_state_ns_ = 0;
}

void TracedProcess::write_open(TraceFile& file, Packer& packer, SalvagedChunk chunk) const {
  const SegmentHeader& segment = segment_->header();
  const StandingFrames standing = standing_frames(segment.pid, segment_->python(), chunk.slot.python_state);
  const std::uint64_t now = read_clock_pair(segment.clock_source, segment.tick_shift).ticks;
  if (now < chunk.ticks) return;  // it records just now
  for (const StandingFrame& frame : standing.frames)
    add<Kind::standing>(chunk, 0, std::string_view(frame.function), std::string_view(frame.file), frame.line);
  if (standing.error != 0) add<Kind::unreadable>(chunk, 0, static_cast<std::uint64_t>(standing.error));
  add<Kind::seen>(chunk, now - chunk.ticks);
  file.add_packed(header_of(FrameType::open_chunk, chunk), chunk.records, packer);
}

void TracedProcess::gather_end(TraceFile& file, Packer& packer, ClockPair seen) {
  const Salvage salvage = salvage_chunks(*segment_);
  salvaged_ = 0;  // this may be the second try
  for (const SalvagedChunk& chunk : salvage.chunks) {
    if (!says_something(chunk) || !is_new(chunk.slot.stream, chunk.slot.sequence)) continue;
    FrameHeader header = header_of(FrameType::chunk, chunk);
    header.flags = kSalvaged;
    salvaged_ += chunk.events;
    file.add_packed(header, chunk.records, packer);
  }
  now_.damaged += salvage.damaged + (segment_->torn() ? 1 : 0);
  const SegmentCounters counted = segment_->counters();
  const std::uint64_t lost_snapshots = counted.lost_snapshots + now_.skipped_snapshots;
  const ProcessEndFrame frame{
      seen,
      counted.lost_events,
      counted.lost_chunks,
      counted.lost_definitions + missing_definitions_,
      counted.dropped_spans,
      counted.flush_ticks,
      counted.off_reason,
      now_.damaged,
      static_cast<std::uint32_t>(std::min<std::uint64_t>(lost_snapshots, UINT32_MAX))};
  FrameHeader header = frame_header(FrameType::process_end, number_);
  if (counted.life == Life::leaving) header.flags = kLeft;
  if (counted.life == Life::running && !replaced_) header.flags = kKilled;
  file.add_raw(header, bytes_of(frame));
}

void TracedProcess::commit() {
  now_.definitions.give_back();
  now_.events.give_back();
  now_.snapshots.give_back();
  if (stacks_) stacks_->commit();
  committed_ = now_;
  replaced_sequences_.clear();
}

void TracedProcess::rollback() {
  now_ = committed_;
  stacks_->rollback();
  for (auto it = replaced_sequences_.rbegin(); it != replaced_sequences_.rend(); ++it)
    sequences_[it->first] = it->second;
  replaced_sequences_.clear();
}

}  // namespace lotus::collector
