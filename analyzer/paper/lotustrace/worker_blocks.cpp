#include "paper/lotustrace/worker_blocks.hpp"

#include <algorithm>
#include <tuple>

namespace lotus::analyzer::lotustrace {
namespace {

using What = BlockSpan::What;

constexpr std::size_t kLongest = 1 << 20;  // lines of a block; more come from a log without batches
constexpr std::size_t kDeepest = 256;      // spans within each other; every chunk names those that are open

What what_of(LineKind kind) {
  switch (kind) {
    case LineKind::loader:
      return What::loader;
    case LineKind::transform:
      return What::transform;
    case LineKind::collation:
      return What::collation;
    case LineKind::preprocessed:
      return What::fetch;
    default:
      return What::op;
  }
}

BlockSpan sample_of(const BlockSpan& first, const BlockSpan& last) {
  return {What::sample, 0, first.start, std::max(first.end, last.end), first.line, 0};
}

std::vector<BlockSpan> samples_by_loader(const std::vector<BlockSpan>& spans) {
  std::vector<BlockSpan> samples;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].what != What::loader) continue;
    const bool with = i + 1 < spans.size() && spans[i + 1].what == What::transform;
    samples.push_back(sample_of(spans[i], spans[with ? i + 1 : i]));
  }
  return samples;
}

std::vector<BlockSpan> samples_by_repetition(const std::vector<BlockSpan>& spans) {
  std::vector<BlockSpan> samples;
  const BlockSpan* first = nullptr;
  const BlockSpan* last = nullptr;
  const auto close = [&] {
    if (first != nullptr) samples.push_back(sample_of(*first, *last));
  };
  const std::size_t name = spans.empty() ? 0 : spans.front().name;
  for (const auto& span : spans) {
    if (span.what != What::op) continue;
    if (span.name == name) {
      close();
      first = &span;
    }
    if (first != nullptr) last = &span;
  }
  close();
  return samples;
}

}  // namespace

std::size_t WorkerBlocks::name_of(std::string_view name) {
  const auto hit = std::find(names_.begin(), names_.end(), name);
  if (hit != names_.end()) return static_cast<std::size_t>(hit - names_.begin());
  names_.emplace_back(name);
  return names_.size() - 1;
}

void WorkerBlocks::add(Block& block, const Line& line) {
  const What what = what_of(line.kind);
  const std::size_t name = what == What::op ? name_of(line.op) : 0;
  block.spans.push_back({what, name, line.start, line.end(), reader_.number(), line.batch});
  if (what == What::fetch) block.place = batches_++;
}

bool WorkerBlocks::next(Block& block) {
  block = {};
  Line line;
  while (!block.place && block.spans.size() < kLongest && reader_.next(line)) add(block, line);
  return !block.spans.empty();
}

void add_samples(std::vector<BlockSpan>& spans) {
  const bool loaders = std::any_of(spans.begin(), spans.end(),
                                   [](const BlockSpan& span) { return span.what == What::loader; });
  const auto samples = loaders ? samples_by_loader(spans) : samples_by_repetition(spans);
  spans.insert(spans.end(), samples.begin(), samples.end());
}

std::vector<BlockSpan> nest(std::vector<BlockSpan>& spans) {
  // Of two that take the same time, the outer one was logged later; samples are outer to all but the fetch.
  const auto depth = [](const BlockSpan& span) {
    return span.what == What::fetch ? 0 : span.what == What::sample ? 1 : 2;
  };
  std::stable_sort(spans.begin(), spans.end(), [&](const BlockSpan& a, const BlockSpan& b) {
    return std::tuple(a.start, b.end, depth(a), b.line) < std::tuple(b.start, a.end, depth(b), a.line);
  });
  std::vector<BlockSpan> open, kept, odd;
  for (const BlockSpan& span : spans) {
    while (!open.empty() && open.back().end <= span.start && open.back().end < span.end) open.pop_back();
    if (open.size() >= kDeepest || (!open.empty() && span.end > open.back().end)) {
      odd.push_back(span);
      continue;
    }
    open.push_back(span);
    kept.push_back(span);
  }
  spans = std::move(kept);
  return odd;
}

}  // namespace lotus::analyzer::lotustrace
