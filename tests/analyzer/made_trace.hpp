// Hand-made traces: ticks are ns, and all times are given in ms since the trace began.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "answers/report/findings.hpp"
#include "reading/model/reading.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"
#include "reading/writer/thread_writer.hpp"

namespace lotus::analyzer::test {

inline constexpr std::uint64_t kStart = 1'000'000'000;                 // ticks
inline constexpr std::uint64_t kRealtime = 1'700'000'000'000'000'000;  // ns, at kStart

inline std::uint64_t at(double ms) { return kStart + static_cast<std::uint64_t>(std::llround(ms * 1e6)); }
inline std::int64_t realtime(double ms) { return static_cast<std::int64_t>(kRealtime + (at(ms) - kStart)); }
inline ClockPair pair_at(double ms) { return {at(ms), static_cast<std::uint64_t>(realtime(ms))}; }

// Appends the bytes of a value.
template <class T>
void append(Bytes& bytes, const T& value) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

// The directory for temporary files: $TMPDIR, or /tmp.
std::string temporary_place();

// A file with these bytes, removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Bytes& bytes, const std::string& suffix = ".lotus");
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A trace of a training process (number 1, pid 100) and its workers (numbers from 2, pids from 101).
class MadeTrace : public TraceWriter {
 public:
  MadeTrace();

  // Definitions of the training process.
  void loader(std::uint64_t id, std::uint64_t workers, bool persistent = false);
  void iterator(std::uint64_t id, std::uint64_t loader);
  // Defines the process of a worker, linked to its iterator; returns its number.
  std::uint32_t worker(std::uint64_t iterator, std::uint64_t id, double born = 1);
  void op(std::uint32_t process, std::uint64_t id, OpRole role, const std::string& name);

  // Writes the ends of all processes and the trailer.
  void close(double ms = 10'000);

 private:
  std::uint32_t processes_ = 0;
};

// Records a span from start to end, with nothing nested in it.
template <Kind K, class... Values>
void span(ThreadWriter& thread, double from, double to, const Values&... values) {
  thread.record<K>(at(from), values...);
  thread.record<Kind::leave>(at(to));
}

// Records a `get` span that delivers a batch at its end.
void get(ThreadWriter& thread, double from, double to, std::uint64_t iterator, std::uint64_t reset,
         std::uint64_t batch, std::uint64_t expected);

// A visitor that keeps everything it is shown.
class Seen : public Visitor {
 public:
  struct SpanSeen {
    Kind kind;
    double start, ms;  // ms since the trace began; length
    Ended ended;
    std::uint64_t depth;
    std::string op, path;
    std::uint64_t samples;
    bool gapped;
  };
  std::vector<SpanSeen> spans;
  std::vector<Batch> batches;
  std::vector<Kind> open;
  std::uint64_t gaps = 0, lost = 0;

  void on_span(const Span& span) override;
  void on_batch(const Batch& batch) override { batches.push_back(batch); }
  void on_open_span(const Stream&, const OpenSpan& span, std::size_t) override { open.push_back(span.kind); }
  void on_gap(const Stream&, std::uint64_t records, std::uint64_t) override {
    ++gaps;
    lost += records;
  }
  // A batch by its iterator, reset and number; nullptr if there is none.
  const Batch* batch(std::uint64_t iterator, std::uint64_t reset, std::uint64_t number) const;
};

// Reads a trace through the model, which calls the visitor.
Reading show(Trace& trace, Visitor& visitor);

// The length of an interval, and the time of an instant since the trace began, in ms.
double length(const Interval& interval);
double instant(std::uint64_t ticks);

// The findings of a report on this trace, which must outlive them.
Findings findings_of(Trace& trace);

}  // namespace lotus::analyzer::test
