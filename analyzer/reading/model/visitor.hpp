// The interface of those who read a trace: called for each span, point and batch while the trace is read.
//
// Streams are read chunk by chunk as they lie in the file: the calls for one stream come in order of time,
// those for different streams are interleaved chunk by chunk. Arguments are valid during the call only,
// except processes, ops and loaders, which live as long as the Trace.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>

#include "reading/model/batch.hpp"
#include "reading/model/span.hpp"

namespace lotus::analyzer {

struct RecordAt {
  const Record& record;
  std::uint64_t ticks;
  std::size_t depth;       // open spans around it; a leave has the depth of its enter
  const OpenSpan* closes;  // leaves: the span that ends here, or nullptr when it is not known
};

class Visitor {
 public:
  Visitor() = default;
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;
  virtual ~Visitor() = default;

  // Every record, before the calls that follow from it. Only called if wants_records() is true (slower).
  virtual bool wants_records() const { return false; }
  virtual void on_record(const Stream&, const RecordAt&) {}
  virtual void on_definition(const Process&, const Record&, std::uint64_t /*ticks*/) {}

  // Stacks of samples and of waits; only called where wants_stacks() is true.
  virtual bool wants_stacks() const { return false; }
  // The record is of kind `stack_sample`.
  virtual void on_stack_sample(const Process&, const Record&, std::uint64_t /*ticks*/) {}
  // Of kind `sample_count`, after the stack sample that it belongs to.
  virtual void on_sample_count(const Process&, const Record&, std::uint64_t /*ticks*/) {}
  // Of kind `off_cpu`.
  virtual void on_off_cpu(const Process&, const Record&, std::uint64_t /*ticks*/) {}

  // A span ended. A sample's path is span.stream.sample_path if span.data.has_path.
  virtual void on_span(const Span&) {}
  // A point that describes an instant or the innermost open span, stream.stack.back(). Not called for kinds
  // that are passed in other ways: in OpenSpan, by on_native(), on_stack_sample() or on_off_cpu().
  virtual void on_point(const Stream&, const Record&, std::uint64_t /*ticks*/) {}
  // A record `native`: the calls of a native entry point inside the innermost open span, stream.stack.back().
  virtual void on_native(const Stream&, const Record&) {}
  // A batch is complete, or no more of its records will come. Only batches that are real().
  virtual void on_batch(const Batch&) {}
  // Records are missing before `ticks`.
  virtual void on_gap(const Stream&, std::uint64_t /*lost_records*/, std::uint64_t /*ticks*/) {}
  // At the end of the trace: a span that never ended, outermost first.
  virtual void on_open_span(const Stream&, const OpenSpan&, std::size_t /*depth*/) {}
};

}  // namespace lotus::analyzer
