// Opens, closes and describes the spans of streams, and hands the closed ones on.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <vector>

#include "reading/model/batches.hpp"
#include "reading/model/reading.hpp"
#include "reading/model/span.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/catalog.hpp"

namespace lotus::analyzer {

class SpanBuilder {
 public:
  // Deeper nesting than this is damage, not a program.
  static constexpr std::size_t kMaxDepth = 1024;

  // All outlive the builder.
  SpanBuilder(Catalog& catalog, Visitor& visitor, Reading& reading)
      : catalog_(catalog), visitor_(visitor), reading_(reading), batches_(visitor) {}

  // `fields`: `count` numbers of the enter record. False: too deep.
  bool enter(Stream& stream, Kind kind, std::uint8_t code, std::uint64_t ticks, const std::uint64_t* fields,
             std::size_t count);
  void leave(Stream& stream, Ended ended, std::uint64_t ticks);
  void point(Stream& stream, const Record& record, std::uint64_t ticks);

  // After a gap: the stack is rebuilt from `open` records, one call each, between these two.
  void begin_rebuild(Stream& stream);
  bool reopen(Stream& stream, const Record& record, std::uint64_t ticks);
  void end_rebuild(Stream& stream);

  // The trace ended: shows the open spans of `stream`.
  void abandon(Stream& stream);
  // After all streams were abandoned: shows the batches that are still incomplete.
  void finish() { batches_.finish(); }

 private:
  void take_path(Stream& stream, const Record& record);
  void account_op(Stream& stream, const Span& span, OpenSpan* parent);
  void account_sample(Stream& stream, const Span& span, OpenSpan* parent);
  static void count_samples(OpenSpan& fetch, std::uint64_t whole_batch);
  static void note_inner(Stream& stream, std::size_t depth);

  Catalog& catalog_;
  Visitor& visitor_;
  Reading& reading_;
  BatchTable batches_;
  std::vector<OpenSpan> before_gap_;
};

}  // namespace lotus::analyzer
