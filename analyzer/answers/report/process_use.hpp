// What the processes that make batches use, from the counters that they record now and then.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "answers/report/facts.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/clock_map.hpp"

namespace lotus::analyzer {

// Whether this span of kind `fetch` makes a batch of a later epoch than its loader's first.
bool is_of_later_epoch(const Span& fetch);

class ProcessUseCollector {
 public:
  // Bytes read from storage for the loader of an iterator, by epoch in which that was seen.
  struct Reads {
    double first = 0, later = 0;
  };
  using ReadsByIterator = std::map<std::pair<const Process*, std::uint64_t>, Reads>;  // training, iterator

  void on_fetch(const Span& span, double ns);
  // A thread of the process sends a batch, and may hold the interpreter's lock meanwhile.
  void on_serialize(const Span& span, double ns) { uses_[span.stream.process].serialize_ns += ns; }
  void on_point(const Stream& stream, const Record& record, const ClockMap& clock);
  // Sums up what was seen of the processes of one trace.
  void fold(Facts& facts);
  // Of all traces, most often opened first.
  std::vector<ReopenedFinding> take_reopened();
  const ReadsByIterator& reads() const { return reads_; }

 private:
  struct Opened {
    std::uint64_t opens = 0, bytes = 0;
  };
  struct Use {
    std::uint64_t batches = 0;                          // so far
    bool later_epoch = false;                           // the last batch was of a loader's later epoch
    std::pair<const Process*, std::uint64_t> iterator;  // its training process and iterator
    bool has_faults = false;                            // and since then:
    std::uint64_t first_minor = 0, first_major = 0, faults_batches = 0;
    std::uint64_t minor = 0, major = 0, read = 0, batches_between = 0;
    double read_first = 0, read_later = 0;
    std::uint64_t threads = 0;
    bool has_memory = false;
    double memory_first = 0, memory_last = 0;
    double resident_first = 0, resident_last = 0;  // at the same looks
    std::uint64_t memory_batches = 0, memory_between = 0;
    bool has_garbage = false;
    std::uint64_t old_first = 0, old_last = 0;
    double fetch_ns = 0;  // of all batches so far
    bool has_lock = false;
    double lock_first = 0, lock_last = 0;  // waited for it, ns
    double serialize_ns = 0;
    double lock_fetch_first = 0;  // fetch_ns at the first record
    // By thread and path.
    std::map<std::pair<std::uint32_t, std::string>, Opened> opened;
  };
  void add_faults(const Stream& stream, const Record& record, Use& use);
  static void add_interpreter_lock(const Record& record, const ClockMap& clock, Use& use);
  static void add_opened(const Stream& stream, const Record& record, Use& use);
  static void add_footprint(const Record& record, Use& use);

  std::unordered_map<const Process*, Use> uses_;
  ReadsByIterator reads_;
  std::map<std::string, ReopenedFinding> reopened_;  // of all traces
  ThreadsFinding threads_;
};

}  // namespace lotus::analyzer
