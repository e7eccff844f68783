// Looks into one frame of a damaged trace: how much of it can be used.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "reading/trace/frames.hpp"
#include "reading/trace/payload.hpp"
#include "reading/trace/schema.hpp"

namespace lotus::analyzer {

struct Inspected {
  bool usable = false;
  std::string problem;                 // why it is not usable, or not to its end
  std::span<const std::uint8_t> body;  // what can be used of it; valid until the next frame is inspected
  bool whole = false;                  // that is all of it
  std::uint64_t events = 0;            // records in it; without those that repeat open spans
  std::uint64_t last_ticks = 0;        // of the last record
};

class Inspector {
 public:
  // `source` outlives it.
  explicit Inspector(const Source& source) : payload_(source) {}

  // Takes over a schema frame. A trace has one schema for all its records, wherever its frame lies: first all
  // that there are, then inspect().
  void learn(const Frame& frame);
  // Reads the frame's payload and all its records.
  Inspected inspect(const Frame& frame);

  const FileSchema& schema() const { return schema_; }

 private:
  Inspected inspect_records(const Frame& frame, std::span<const std::uint8_t> body) const;

  PayloadReader payload_;
  FileSchema schema_;
};

}  // namespace lotus::analyzer
