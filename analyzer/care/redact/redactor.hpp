// Copies a trace without private names and paths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "care/redact/hasher.hpp"
#include "care/redact/policy.hpp"
#include "reading/trace/frame_writer.hpp"
#include "reading/trace/payload.hpp"
#include "reading/trace/trace.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {

struct Redacted {
  std::uint64_t events = 0;
  std::uint64_t dropped_frames = 0;  // damaged, or of a kind that this program does not know
  std::uint64_t dropped_bytes = 0;
};

class Redactor {
 public:
  // All outlive the redactor.
  Redactor(const Trace& trace, Hasher& hasher, Output& out);

  // Writes the whole copy.
  Redacted run();

 private:
  using Body = std::span<const std::uint8_t>;
  void frame(const Frame& frame, Body body);
  // Re-encodes records up to the first damaged one. True: all were re-encoded.
  bool records(Body body);
  void record(const Record& record);
  std::string text(const Record& record, std::size_t field);
  void path(const Record& record);
  void put(std::uint64_t number);
  void put(std::string_view text);
  void drop(const Frame& frame);

  const Trace& trace_;
  Hasher& hasher_;
  PayloadReader payload_;
  FrameWriter writer_;
  Redacted result_;
  Redaction redactions_[256][kMaxFields];
  std::vector<std::uint8_t> bytes_;   // the frame's new body
  std::string path_, redacted_path_;  // the chunk's previous ones
};

}  // namespace lotus::analyzer
