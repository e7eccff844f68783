// The columns of `batches`: one row per fact about a batch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "reading/model/batch.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

struct BatchRow {
  const Trace& trace;
  const Batch& batch;
  std::optional<std::uint64_t> number;  // see Numbering
};

struct BatchColumn {
  const char* name;
  bool flag;                                              // 0 or 1 is false or true
  std::optional<std::int64_t> (*value)(const BatchRow&);  // none: not known
};

// In the order of the output. Documented in lotus-analyze(1): _at_ns and _start_ns are realtime ns, other
// _ns are durations.
std::span<const BatchColumn> batch_columns();

// The value of the column of that name.
std::optional<std::int64_t> batch_value(const BatchRow& row, std::string_view name);

}  // namespace lotus::analyzer
