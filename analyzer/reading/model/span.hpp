// Spans and streams, built from the records of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <lotus/field.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reading/model/batch.hpp"
#include "reading/model/python_calls.hpp"
#include "reading/model/standing_frame.hpp"
#include "reading/trace/catalog.hpp"

namespace lotus::analyzer {

// How a span ended.
enum class Ended : std::uint8_t { returned, error, empty, lost };

inline constexpr std::int32_t kNoSpan = -1;

// A span of a thread that has not ended yet. Times in ticks.
struct OpenSpan {
  Kind kind{};            // Kind{}: a kind that this program does not know
  std::uint8_t code = 0;  // of its record
  bool gapped = false;    // records inside it are missing: its duration is right, its inner sums may not be
  bool has_path = false;  // sample: the stream's sample_path is its file
  bool has_cpu = false;
  bool starved = false;           // fetch: an iterator ended inside it
  bool unsized = false;           // fetch: how many samples its batch has is not known
  bool has_inner = false;         // samples: there are sample spans inside
  bool no_operators = false;      // fetch: PyTorch's operators are not counted in it
  std::int32_t sample = kNoSpan;  // position in the stack of the outermost sample around it (or itself)
  std::int32_t fetch = kNoSpan;   // of the fetch around it (or itself)
  std::uint64_t start = 0;
  std::uint64_t cpu_ns = 0;               // if has_cpu
  std::uint64_t core_wait_ns = kUnknown;  // fetch: how long it waited for a core
  std::uint64_t op_ticks = 0;             // of the ops directly inside it, runners skipped
  std::uint64_t bytes = 0;
  std::uint64_t storages = kUnknown, storage_bytes = 0;  // serialize: tensors', in shared memory
  PythonCalls python_calls;                              // also those in spans inside it
  std::uint64_t samples = 0;  // fetch: samples made; a batch of unknown size counts as one
  std::uint64_t whole_batch =
      kUnknown;  // sample, fetch: what came is a batch of so many samples, 0: not known
  std::uint64_t process_cpu_before = kUnknown;  // next: CPU time of the process at its start and end, ns
  std::uint64_t process_cpu_after = kUnknown;
  // next: steps of optimizers of other threads so far, if its thread trains nothing itself; 0: none.
  std::uint64_t others_steps = 0;
  const Op* op = nullptr;         // op: itself; sample: the op that took most of it, nested ones subtracted
  std::uint64_t worst_ticks = 0;  // sample: time of that op
  std::array<std::uint64_t, kMaxSpanFields> fields{};  // as in the kind's row, signed ones cast to unsigned
};

// A field of the record that opened `span`, which is of kind K.
template <Kind K, FieldName Name>
constexpr auto field(const OpenSpan& span) {
  static_assert(info(K).shape == Shape::enter);
  return lotus::field<K, Name>(span.fields.data());
}

// How long the loops of a thread took so far: runs of calls of one iterator's __next__, with what lies
// between them. A loop inside of another one's body, as for validation, is a run of its own, and no part of
// the outer loop's step.
struct LoopRuns {
  std::uint64_t ticks = 0, cpu_ns = 0;                // of all runs
  std::uint64_t ticks_before = 0, cpu_ns_before = 0;  // without the call that ended last

  void add(const OpenSpan& next, std::uint64_t ended) {
    const std::array<std::uint64_t, 2> called = {field<Kind::next, "iterator">(next),
                                                 field<Kind::next, "reset">(next)};
    const bool goes_on = called == last_;
    ticks_before = ticks;
    cpu_ns_before = cpu_ns;
    const std::uint64_t from = goes_on ? end_ : next.start;
    ticks += ended > from ? ended - from : 0;
    const std::uint64_t cpu_from = goes_on ? cpu_end_ : next.process_cpu_before;
    const std::uint64_t cpu_to = next.process_cpu_after;
    if (cpu_from != kUnknown && cpu_to != kUnknown && cpu_to > cpu_from) cpu_ns += cpu_to - cpu_from;
    last_ = called;
    end_ = ended;
    cpu_end_ = cpu_to;
  }

 private:
  std::array<std::uint64_t, 2> last_{};
  std::uint64_t end_ = 0, cpu_end_ = kUnknown;
};

// One thread of one process.
struct Stream {
  Process* process = nullptr;
  std::uint32_t number = 0;
  std::uint64_t sequence = 0;  // of the last chunk read
  bool broken = false;         // the last chunk was not read to its end
  std::uint64_t gaps = 0;      // places so far where records are missing
  std::uint64_t records = 0;
  std::uint64_t seen = 0;  // ticks when its open chunk was looked at, 0: the trace has its end or none
  std::vector<StandingFrame> standing;  // what it was in when it was looked at, innermost first
  std::uint64_t unreadable = 0;         // errno: why that could not be read
  std::uint64_t samples = 0;            // that ended so far, those inside of others not counted
  std::vector<OpenSpan> stack;
  std::string chunk_path;   // the last path of the open chunk, which the next one builds on
  std::string sample_path;  // of the sample that got a path last
  BatchProgress batches;
  LoopRuns loops;

  std::uint64_t tid() const {
    const auto thread = process->threads.find(number);
    return thread == process->threads.end() ? 0 : thread->second.tid;
  }
};

// A span that has just ended.
struct Span {
  const Stream& stream;
  const OpenSpan& data;
  const OpenSpan* parent;  // nullptr: it was outermost
  std::size_t depth;       // spans around it
  Ended ended;
  std::uint64_t end;  // ticks

  Kind kind() const { return data.kind; }
  std::uint64_t ticks() const { return end > data.start ? end - data.start : 0; }
  // Self time: ticks without those of the ops directly inside it.
  std::uint64_t self_ticks() const { return ticks() > data.op_ticks ? ticks() - data.op_ticks : 0; }
  bool is_op() const { return kind() == Kind::op && data.op->role != OpRole::runner; }
  std::optional<std::uint64_t> cpu_ns() const {
    return data.has_cpu ? std::optional(data.cpu_ns) : std::nullopt;
  }
  // For a sample: whether it is the first of its worker. That one is slow: it imports modules and fills
  // caches.
  bool is_workers_first() const { return stream.samples == 0 && stream.process->worker_of.has_value(); }
  // Whether PyTorch's operators are counted here. If counting costs too much, only some batches have it.
  bool counts_operators() const {
    return data.fetch == kNoSpan || !stream.stack[static_cast<std::size_t>(data.fetch)].no_operators;
  }
  // For a fetch. One that an exhausted iterable dataset left by StopIteration is `empty`.
  Fetched fetched() const {
    if (ended == Ended::returned) return Fetched::made;
    return ended == Ended::empty || data.starved ? Fetched::empty : Fetched::failed;
  }
};

}  // namespace lotus::analyzer
