// What all kinds of timelines show of spans and batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/batch.hpp"
#include "model/numbering.hpp"
#include "model/span.hpp"
#include "timeline/lanes.hpp"

namespace lotus::analyzer {

// runner, op, sample, transfer or loop.
const char* category_of(const OpenSpan& span);

// Names of the slices of a batch, as in the research system.
inline constexpr const char* kBatchCategory = "user_annotation";
std::string preprocessed_name(std::uint64_t number);
std::string wait_name(std::uint64_t number);
std::string consumed_name(std::uint64_t number);
// How long consumption lasts: the research system's literal.
inline constexpr std::int64_t kConsumedNs = 1000;

// What a batch is called outside of the trace.
struct BatchLabel {
  std::uint64_t number = 0;  // see Numbering
  std::uint64_t batch = 0;   // PyTorch's own index
  std::optional<std::uint64_t> loader, epoch;

  // Of external ids and correlations: negative, so that none meets one of the PyTorch profiler's.
  std::int64_t id() const { return -1 - static_cast<std::int64_t>(number); }
};
// None for a batch that has no number.
std::optional<BatchLabel> label_of(const BatchKey& key, const Numbering& numbering);

// Arrows have numbers of their own; those of the PyTorch profiler have 32 bits.
constexpr std::uint64_t arrow_of(std::uint64_t number) { return (std::uint64_t{1} << 32) + number; }

// The first pass over a trace that is to be drawn: finds the numbers of batches and the names of threads.
class Outline : public Numbering {
 public:
  explicit Outline(Lanes& lanes) : lanes_(lanes) {}

  void on_span(const Span& span) override;
  void on_open_span(const Stream& stream, const OpenSpan& span, std::size_t) override;

 private:
  Lanes& lanes_;
};

}  // namespace lotus::analyzer
