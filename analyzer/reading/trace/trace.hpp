// A trace with everything that is known about it before its chunks are read.
#pragma once

#include <cstdint>
#include <lotus/trace.hpp>
#include <optional>
#include <string>

#include "reading/trace/catalog.hpp"
#include "reading/trace/clock_map.hpp"
#include "reading/trace/damage.hpp"
#include "reading/trace/schema.hpp"
#include "reading/trace/source.hpp"
#include "reading/trace/stack_table.hpp"

namespace lotus::analyzer {

struct FrameCounts {
  std::uint64_t by_type[256] = {};
  std::uint64_t salvaged = 0;
  std::uint64_t chunk_events = 0;  // that the chunks' headers promise
  std::uint64_t samples = 0;       // that the headers of samples frames promise
};

struct Trace {
  explicit Trace(std::string path);

  Source source;
  FileHeader header;
  FileSchema schema;
  ClockMap clock;
  Catalog catalog;
  StackTable stacks;
  std::optional<TrailerFrame> trailer;
  std::optional<std::uint64_t> cut_off;  // where the frame begins that the end of the file cuts off
  FrameCounts frames;
  Damage damage;  // of headers and of all frames but chunks

  // No trailer: the trace was cut off, or is still being written.
  bool truncated() const { return !trailer.has_value(); }
  // Events that processes dropped because the collector did not keep up.
  std::uint64_t lost_events() const;
  // Samples of the stack that processes dropped for the same reason.
  std::uint64_t lost_snapshots() const;
};

}  // namespace lotus::analyzer
