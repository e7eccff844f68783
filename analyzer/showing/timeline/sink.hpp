// The interface that a timeline is drawn into: a file in one of the formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "reading/trace/catalog.hpp"
#include "showing/timeline/lanes.hpp"
#include "showing/timeline/torch_profile.hpp"

namespace lotus::analyzer {

// A thread of the trace.
struct DrawnThread {
  std::size_t index = 0;  // from 0, in the order in which the threads were met
  Lane lane;
};

// The position of a span's slice among those of its thread.
struct Nesting {
  std::size_t depth = 0;           // spans around it
  std::uint64_t start = 0;         // ticks
  std::uint64_t parent_start = 0;  // of the span around it, or HeldSlices::kNoParent
};

// Times in ns; start: realtime.
struct Slice {
  std::int64_t start = 0, ns = 0;
  bool open = false;             // had not ended at the end of the trace, where `ns` ends
  std::uint64_t arrow_from = 0;  // number of an arrow that begins at its end; 0: none
  std::uint64_t arrow_to = 0;    // that ends at its start
};

// A counter of a process.
struct DrawnCounter {
  const char *name, *unit;
  std::uint64_t pid = 0;
  const Loader* loader = nullptr;  // nullptr: not known, or it is of the whole process
};

// Slices are drawn in three steps: a call of begin_…(), the facts, and then draw…(), which may be called
// several times for slices of the same facts.
class TimelineSink {
 public:
  virtual ~TimelineSink() = default;

  // True: the slice of a fetch must be drawn when its span ends. False: it is drawn with its batch, once the
  // batch is complete.
  virtual bool draws_fetches_as_spans() const = 0;

  // A slice of a span; `op` is nullptr unless `name` is the operation's.
  virtual void begin_span(const DrawnThread& thread, const char* category, std::string_view name,
                          const Op* op) = 0;
  // The span has become the slice of a batch, which has a name of its own: only where
  // draws_fetches_as_spans().
  virtual void rename_span(std::string_view) {}
  // Slices of a batch.
  virtual void begin_batch() = 0;

  virtual void fact(std::string_view name, std::uint64_t number) = 0;
  virtual void fact(std::string_view name, std::string_view text) = 0;
  virtual void fact_flag(std::string_view name, bool truth) = 0;
  // The unit is the format's, and ends the name.
  virtual void fact_duration(std::string_view name, std::int64_t ns) = 0;
  virtual void fact_batch_id(std::int64_t id) = 0;
  virtual void fact_sample_index(std::int64_t index) = 0;

  // Draws the span, in the thread given to begin_span().
  virtual void draw_span(const DrawnThread& thread, const Nesting& nesting, const Slice& slice) = 0;
  virtual void draw_batch(const Lane& lane, std::string_view name, const Slice& slice) = 0;
  virtual void count(const DrawnCounter& counter, std::int64_t ns, std::uint64_t value) = 0;

  // Once, after everything else. `profile`: the one to be merged, or nullptr.
  virtual void finish(const TorchProfile* profile) = 0;
};

}  // namespace lotus::analyzer
