// The only place that interprets records: turns the chunks of a trace into spans, samples and batches and
// shows them to a visitor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "reading/model/reading.hpp"
#include "reading/model/span.hpp"
#include "reading/model/span_builder.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/frames.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

class PayloadReader;

class Model {
 public:
  // Called now and then with the bytes of the file read so far.
  using Progress = std::function<void(std::uint64_t)>;

  // `trace` and `visitor` outlive the model.
  Model(Trace& trace, Visitor& visitor, Progress progress = {});

  // Streams the whole trace once; the result is valid as long as the model.
  const Reading& run();

 private:
  using Body = std::span<const std::uint8_t>;
  struct Cursor {
    const std::uint8_t* in;
    const std::uint8_t* end;
    std::uint64_t ticks;
    std::uint64_t records = 0, visits = 0;  // as in Reading::Extent
  };

  void frame(const Frame& frame, Body body);
  void read_open_chunks(PayloadReader& payload);
  void definitions(const FrameHeader& header, Body body);
  void chunk(const Frame& frame, Body body);
  Stream& stream(const FrameHeader& header);
  bool begin(Stream& stream, const FrameHeader& header);
  bool reopen(Stream& stream, Cursor& at, bool rebuild);
  bool decode_all(Stream& stream, Cursor& at);
  bool decode_one(Stream& stream, Cursor& at);
  bool apply(Stream& stream, const Record& record, std::uint64_t ticks);
  void show(const Stream& stream, const Record& record, std::uint64_t ticks);
  void note_extent(const Stream& stream, std::uint64_t first, const Cursor& at);
  void samples(const Frame& frame, Body body);
  void damaged(const Frame& frame, std::uint64_t bytes, std::string what);

  Trace& trace_;
  Visitor& visitor_;
  Progress progress_;
  Reading reading_;
  SpanBuilder spans_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<Stream>> streams_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Frame> open_chunks_;  // the last of each stream
  const bool wants_records_;
  const bool wants_stacks_;
  const std::uint64_t apart_ticks_;
  const bool quick_;  // op and leave, most of all records, may be decoded without the schema
};

}  // namespace lotus::analyzer
