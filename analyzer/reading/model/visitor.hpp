// What a view of a trace gets to see, while the trace streams by.
//
// Streams are read chunk by chunk as they lie in the file: the calls for one stream come in order of time,
// those for different streams are interleaved chunk-wise. Nothing that is passed outlives the call, but for
// processes, ops and loaders, which live as long as the Trace.
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

  // Every record, before what it amounts to; only called where wants_records() is true (slower).
  virtual bool wants_records() const { return false; }
  virtual void on_record(const Stream&, const RecordAt&) {}
  virtual void on_definition(const Process&, const Record&, std::uint64_t /*ticks*/) {}

  // Samples of the stack; only called where wants_stacks() is true.
  virtual bool wants_stacks() const { return false; }
  // The record is of kind `stack_sample`.
  virtual void on_stack_sample(const Process&, const Record&, std::uint64_t /*ticks*/) {}

  // A span ended. A sample's path is span.stream.sample_path if span.data.has_path.
  virtual void on_span(const Span&) {}
  // A point that describes an instant, or the innermost open span, stream.stack.back(): of any kind that is
  // understood, but for those that are told otherwise, in OpenSpan, by on_native() or by on_stack_sample().
  virtual void on_point(const Stream&, const Record&, std::uint64_t /*ticks*/) {}
  // What a native entry point did inside the innermost open span, stream.stack.back(), in a record `native`.
  virtual void on_native(const Stream&, const Record&) {}
  // All is known of a batch that will become known. Only batches that are real().
  virtual void on_batch(const Batch&) {}
  // Records are missing before `ticks`.
  virtual void on_gap(const Stream&, std::uint64_t /*lost_records*/, std::uint64_t /*ticks*/) {}
  // At the end of the trace: a span that never ended, outermost first.
  virtual void on_open_span(const Stream&, const OpenSpan&, std::size_t /*depth*/) {}
};

}  // namespace lotus::analyzer
