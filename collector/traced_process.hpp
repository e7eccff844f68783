// One traced process: its segment, and how far that has been read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "definition_frames.hpp"
#include "process_watch.hpp"
#include "salvage.hpp"
#include "segment.hpp"
#include "stacks/process_stacks.hpp"
#include "trace_file.hpp"
#include "trace_scan.hpp"
#include "visit_pace.hpp"

namespace lotus::collector {

class TracedProcess {
 public:
  TracedProcess(std::unique_ptr<Segment> segment, ProcessWatch watch);

  const Segment& segment() const { return *segment_; }
  ProcessWatch& watch() { return watch_; }
  // The number in the trace file, 0 before it has one.
  std::uint32_t number() const { return number_; }
  // Gives the process its number in the trace. `earlier`: the process as an earlier collector wrote it, if
  // any. `stacks`: shared by the processes of the trace; outlives this.
  void enter_trace(std::uint32_t number, ScannedProcess* earlier, Stacks& stacks);
  // True if an earlier collector wrote all its records, and only the segment remained.
  bool written_before() const { return written_before_; }

  bool dead();
  // The process has a new segment and writes to this one no more.
  void declare_replaced() { dead_ = replaced_ = true; }
  // The process is about to be killed: treat it as dead now, so that its records are saved.
  void declare_dead() { dead_ = true; }

  // Adds the new records of the rings to the batch of `file`, definitions first. Snapshots stay in their ring
  // until they are many or old, or the process is dead, or `all` is set.
  Filling gather(TraceFile& file, Packer& packer, std::uint64_t now_ns, bool all);
  // Adds what threads have recorded that hand on nothing, as where they hang.
  void gather_open(TraceFile& file, Packer& packer, std::uint64_t now_ns);
  // Adds when the process was stopped by a signal, if it goes on again.
  void gather_stop(TraceFile& file, Packer& packer, std::uint64_t now_ns);
  // Nothing ran since the last gather_stop(), not even the collector.
  void note_standstill();
  // The last gather() left snapshots for the next one, so that other processes do not wait for these; never
  // with `all`.
  bool more_to_unwind() const { return more_to_unwind_; }
  // For a dead process, after gather() left nothing: adds its open chunks and its end.
  void gather_end(TraceFile& file, Packer& packer, ClockPair seen);
  // The batch is in the file: gives its bytes in the rings back to the process.
  void commit();
  // The batch was not written: everything gathered since commit() is gathered again.
  void rollback();

  std::uint32_t damaged() const { return now_.damaged; }
  // Events in its open chunks when it ended.
  std::uint64_t salvaged() const { return salvaged_; }
  // How full its event ring is, 0 to 1.
  double fill() const;
  std::uint64_t lost_events() const { return segment_->counters().lost_events; }

 private:
  // The state that a batch changes and rollback() restores.
  struct Progress {
    RingCursor definitions, events, snapshots;
    std::uint32_t damaged = 0;            // unusable records
    std::uint64_t skipped_snapshots = 0;  // because unwinding took too long
    bool announced = false;               // the process frame is written
    std::uint64_t stopped_since = 0;      // ticks; 0: it is not
    std::uint64_t stopped_ticks = 0;      // from then until it was seen so last
  };

  void announce(TraceFile& file);
  bool gather_definitions(TraceFile& file, Packer& packer);
  void gather_chunks(TraceFile& file, std::uint64_t limit);
  bool snapshots_are_due(std::uint64_t limit, std::uint64_t now_ns);
  void gather_snapshots(TraceFile& file, Packer& packer, std::uint64_t limit, std::uint64_t now_ns, bool all);
  bool take_snapshot(const RingRecord& record, const std::uint8_t* payload, bool crowded,
                     std::uint64_t now_ns);
  void take_definitions(const RingRecord& record, const std::uint8_t* payload, DefinitionJoiner& joiner,
                        TraceFile& file, Packer& packer);
  void take_chunk(const RingRecord& record, const std::uint8_t* payload, TraceFile& file);
  template <class Take>
  bool read_ring(RingCursor& ring, std::uint64_t limit, Take take);
  bool definitions_may_wait(std::uint64_t now_ns, bool complete);
  // Since the previous call.
  Filling filling();
  bool is_new(std::uint32_t stream, std::uint64_t sequence);
  void write_open(TraceFile& file, Packer& packer, SalvagedChunk chunk) const;
  FrameHeader header_of(FrameType type, const SalvagedChunk& chunk) const;
  bool says_something(const SalvagedChunk& chunk) const;
  void write_definitions(TraceFile& file, Packer& packer, const DefinitionBody& body,
                         std::uint64_t position) const;

  std::unique_ptr<Segment> segment_;
  ProcessWatch watch_;
  Progress now_, committed_;
  std::uint32_t number_ = 0;
  LastSequences sequences_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> replaced_sequences_;  // since commit(), for rollback()
  std::uint64_t definitions_had_ = 0;      // position up to which an earlier collector wrote them
  std::uint64_t snapshots_had_ = 0;        // the same of snapshots
  std::uint64_t missing_definitions_ = 0;  // 1: an unknown number
  std::unique_ptr<ProcessStacks> stacks_;
  std::uint64_t seen_heads_[kRings] = {};      // of the rings, at the last gather()
  std::uint64_t snapshots_since_ns_ = 0;       // when some were first seen in the ring, 0: none are there
  std::uint64_t snapshot_waits_since_ns_ = 0;  // for definitions
  std::uint64_t hole_since_ns_ = 0;            // when a definition was first found unfinished
  std::vector<std::uint8_t> scratch_;
  // A thread's open chunk, as it was seen last.
  struct OpenChunk {
    std::uint64_t sequence = 0;
    std::uint64_t since_ns = 0, due_ns = 0;
  };
  std::map<std::uint32_t, OpenChunk> open_chunks_;  // by stream
  std::uint64_t next_look_ns_ = 0;                  // at open chunks
  std::uint64_t next_state_ns_ = 0;                 // look at the process's state
  std::uint64_t visited_ticks_ = 0;                 // the last gather_stop()
  std::uint64_t heads_before_ = 0;                  // of the rings, when the state was looked at last
  bool more_to_unwind_ = false;
  bool dead_ = false;
  bool replaced_ = false;  // the process may live on, as another program (exec)
  bool written_before_ = false;
  std::uint64_t salvaged_ = 0;
};

}  // namespace lotus::collector
