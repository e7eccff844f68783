// Draws spans and batches as a timeline, independently of the format.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "reading/model/batch.hpp"
#include "reading/model/numbering.hpp"
#include "reading/model/reading.hpp"
#include "reading/model/span.hpp"
#include "reading/trace/trace.hpp"
#include "showing/timeline/lanes.hpp"
#include "showing/timeline/sink.hpp"

namespace lotus::analyzer {

// Category of the slices of a batch, as in the research system.
inline constexpr const char* kBatchCategory = "user_annotation";

// Arrows have numbers of their own; those of the PyTorch profiler have 32 bits.
constexpr std::uint64_t arrow_of(std::uint64_t number) { return (std::uint64_t{1} << 32) + number; }

// When the trace began: realtime ns.
std::int64_t start_of(const Trace& trace, const Reading& reading);

// The first pass over a trace that is to be drawn: finds the numbers of batches and the names of threads.
class Outline : public Numbering {
 public:
  explicit Outline(Lanes& lanes) : lanes_(lanes) {}

  void on_span(const Span& span) override;
  void on_open_span(const Stream& stream, const OpenSpan& span, std::size_t) override;

 private:
  Lanes& lanes_;
};

// The second pass: draws.
class Drawing : public Visitor {
 public:
  // `numbering`, `lanes` and `reading`: of the first pass. All but `reading` outlive the drawing. `coarse`:
  // batches only.
  Drawing(const Trace& trace, const Numbering& numbering, Lanes& lanes, const Reading& reading, bool coarse,
          TimelineSink& sink);

  void on_span(const Span& span) override;
  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_batch(const Batch& batch) override;
  void on_open_span(const Stream& stream, const OpenSpan& span, std::size_t depth) override;

 private:
  const DrawnThread& thread_of(const Stream& stream, Kind kind);
  void begin(const DrawnThread& thread, const OpenSpan& span);
  bool rename_fetch(const Span& span, Slice& slice);
  void describe(const BatchKey& key, std::uint64_t number);
  void describe(const Stream& stream, const OpenSpan& span);
  void draw_memory(const Stream& stream, const Record& record, std::uint64_t ticks);
  void draw_fetch(const Batch& batch, std::uint64_t number);
  void draw_wait(const Batch& batch, std::uint64_t number);
  void draw_consumed(const Batch& batch, std::uint64_t number);

  const Trace& trace_;
  const Numbering& numbering_;
  Lanes& lanes_;
  bool coarse_;
  TimelineSink& sink_;
  std::uint64_t last_ticks_;
  std::unordered_map<const Stream*, DrawnThread> threads_;
  std::unordered_map<const Stream*, std::uint64_t> live_;  // bytes in use, in steps that are recorded
  const Stream* last_stream_ = nullptr;                    // chunks come in runs of one stream
  const DrawnThread* last_thread_ = nullptr;
};

}  // namespace lotus::analyzer
