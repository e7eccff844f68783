// Counts and problems found while the chunks of a trace were read.
#pragma once

#include <cstdint>
#include <map>

#include "reading/model/batch.hpp"
#include "reading/model/python_calls.hpp"
#include "reading/trace/damage.hpp"

namespace lotus::analyzer {

struct Reading {
  // So long after a record, what the tracer's next one needs is no longer in the caches.
  static constexpr double kApartNs = 50'000;

  std::uint64_t gaps = 0;              // places where records are missing
  std::uint64_t lost_records = 0;      // that the chunks say were dropped before them
  std::uint64_t dropped_spans = 0;     // open spans whose end is in a gap
  std::uint64_t unmatched_leaves = 0;  // ends of spans whose start is in a gap
  std::uint64_t open_spans = 0;        // at the end of the trace
  std::uint64_t damaged_samples = 0;   // of the stack, in frames that could not be read
  std::uint64_t stack_samples = 0;
  PythonCalls python_calls;
  Damage damage;  // of chunks and samples

  struct Extent {
    std::uint64_t records = 0;  // without the repetitions at the start of chunks
    std::uint64_t visits = 0;   // of them, those that came kApartNs or more after the one before
    std::uint64_t first = kUnknown, last = 0;  // ticks of the first and the last record

    std::uint64_t ticks() const { return first < last ? last - first : 0; }
  };
  Extent whole;
  std::map<std::uint32_t, Extent> by_process;  // by number
};

}  // namespace lotus::analyzer
