#include "timeline/drawing.hpp"

#include <fmt/format.h>

namespace lotus::analyzer {

const char* category_of(const OpenSpan& span) {
  switch (span.kind) {
    case Kind::op:
      return span.op->role == OpRole::runner ? "runner" : "op";
    case Kind::sample:
    case Kind::samples:
      return "sample";
    case Kind::put:
    case Kind::serialize:
    case Kind::send:
    case Kind::receive:
    case Kind::deserialize:
    case Kind::pin:
      return "transfer";
    default:
      return "loop";
  }
}

std::string preprocessed_name(std::uint64_t number) { return fmt::format("SBatchPreprocessed_{}", number); }
std::string wait_name(std::uint64_t number) { return fmt::format("SBatchWait_{}", number); }
std::string consumed_name(std::uint64_t number) { return fmt::format("SBatchConsumed_{}", number); }

std::optional<BatchLabel> label_of(const BatchKey& key, const Numbering& numbering) {
  const auto number = numbering.of(key);
  if (!number) return std::nullopt;
  BatchLabel label{*number, key.batch, {}, {}};
  if (const Loader* loader = key.training->loader_of(key.iterator)) label.loader = loader->id;
  if (const Epoch* epoch = key.training->epoch_of(key.iterator, key.reset)) label.epoch = epoch->number;
  return label;
}

void Outline::on_span(const Span& span) {
  if (span.kind() != Kind::op && span.kind() != Kind::sample) lanes_.of(span.stream, span.kind());
}

void Outline::on_open_span(const Stream& stream, const OpenSpan& span, std::size_t) {
  lanes_.of(stream, span.kind);
}

}  // namespace lotus::analyzer
