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
  std::string problem;                 // why all or the end of it is unusable
  std::span<const std::uint8_t> body;  // the usable part; valid until the next frame is inspected
  bool whole = false;                  // all of it is usable
  std::uint64_t events = 0;            // records in it; without those that repeat open spans
  std::uint64_t last_ticks = 0;        // of the last record
};

class Inspector {
 public:
  // `source` outlives it.
  explicit Inspector(const Source& source) : payload_(source) {}

  // Reads a schema frame. The schema holds for all records of a trace, wherever its frame is: so pass all
  // schema frames before the first call of inspect().
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
