#include "paper/lotustrace/exporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "reading/model/batches.hpp"

namespace lotus::analyzer::lotustrace {

std::string configuration_of(const Trace& trace) {
  std::set<std::uint64_t> batch_sizes, trainings;
  for (const auto& [number, process] : trace.catalog.processes())
    for (const auto& [key, epoch] : process->epochs) {
      const Loader* const loader = process->loader_of(key.first);
      batch_sizes.insert(loader != nullptr ? loader->batch_size : 0);
      trainings.insert(process->pid);
    }
  if (batch_sizes.size() != 1 || *batch_sizes.begin() == 0) return {};
  return fmt::format("b{}_gpu{}", *batch_sizes.begin(), trainings.size());
}

Exporter::Exporter(const Trace& trace, LogWriter& logs, std::string prefix, std::string inside,
                   std::optional<std::uint64_t> only)
    : trace_(trace), logs_(logs), prefix_(std::move(prefix)), inside_(std::move(inside)), only_(only) {
  std::set<Part> parts;
  std::set<std::uint64_t> processes, loaders;
  for (const auto& [number, process] : trace.catalog.processes())
    for (const auto& [key, epoch] : process->epochs) {
      const BatchKey any{process.get(), key.first, key.second, 0};
      if (!wanted(any)) continue;
      const Part part = part_of(any);
      parts.insert(part);
      processes.insert(part.pid);
      loaders.insert(part.loader);
    }
  several_ = parts.size() > 1;
  several_processes_ = processes.size() > 1;
  several_loaders_ = loaders.size() > 1;
}

Part Exporter::part_of(const BatchKey& key) {
  const Process& training = *key.training;
  return {training.pid, training.loader_id_of(key.iterator),
          training.epoch_number_of(key.iterator, key.reset)};
}

bool Exporter::wanted(const BatchKey& key) const { return !only_ || part_of(key).epoch == *only_; }

std::string Exporter::directory_of(const BatchKey& key) const {
  if (!several_) return inside_;
  const Part part = part_of(key);
  const std::string name = part_text(part, several_processes_, several_loaders_);
  return inside_.empty() ? name : inside_ + "/" + name;
}

Line Exporter::line_of(LineKind kind, const Span& span) const {
  Line line;
  line.kind = kind;
  line.start = trace_.clock.ns(span.data.start);
  line.duration = trace_.clock.between(span.data.start, span.end);
  return line;
}

const OpenSpan* Exporter::fetch_of(const Span& span) {
  return span.data.fetch == kNoSpan ? nullptr : &span.stream.stack[static_cast<std::size_t>(span.data.fetch)];
}

void Exporter::write(const std::string& directory, const LogName& name, const Line& line) {
  const std::string file = name.text();
  logs_.write(directory.empty() ? file : directory + "/" + file, line_text(line));
  ++lines_;
}

void Exporter::on_span(const Span& span) {
  if (span.ended == Ended::lost) return;
  if (span.kind() == Kind::op) return on_op(span);
  const bool outermost = span.data.sample == static_cast<std::int32_t>(span.depth);
  if (span.kind() == Kind::sample && outermost) end_sample(span.stream, span);
  if (span.kind() == Kind::fetch) end_fetch(span);
}

void Exporter::on_op(const Span& span) {
  const OpRole role = span.data.op->role;
  const OpenSpan* fetch = fetch_of(span);
  if (fetch == nullptr) {
    outside_ += role == OpRole::runner ? 0 : 1;
    return;
  }
  Sample& sample = samples_[&span.stream];
  if (role == OpRole::loader) return sample.loaders.push_back(line_of(LineKind::loader, span));
  if (role == OpRole::runner) {
    const bool whole = span.parent != nullptr && span.parent->kind == Kind::sample;
    if (whole) sample.transforms.push_back(line_of(LineKind::transform, span));
    return;
  }
  Line line = line_of(role == OpRole::collate ? LineKind::collation : LineKind::op, span);
  line.op = span.data.op->name;
  const BatchKey key = key_of_fetch(span.stream, *fetch);
  if (wanted(key)) write(directory_of(key), {prefix_, span.stream.process->pid, false}, line);
}

// Only DatasetFolder writes these two lines, and so always both.
void Exporter::end_sample(const Stream& stream, const Span& inside) {
  const auto found = samples_.find(&stream);
  const OpenSpan* fetch = fetch_of(inside);
  if (found == samples_.end() || fetch == nullptr) return;
  const Sample sample = std::exchange(found->second, {});
  const BatchKey key = key_of_fetch(stream, *fetch);
  if (!wanted(key)) return;
  const std::string directory = directory_of(key);
  const LogName name{prefix_, stream.process->pid, false};
  for (const Line& line : sample.loaders) write(directory, name, line);
  if (!sample.loaders.empty())
    for (const Line& line : sample.transforms) write(directory, name, line);
}

void Exporter::end_fetch(const Span& span) {
  end_sample(span.stream, span);
  const BatchKey key = key_of_fetch(span.stream, span.data);
  if (span.fetched() != Fetched::made || !wanted(key)) return;
  Line line = line_of(LineKind::preprocessed, span);
  line.batch = field<Kind::fetch, "batch">(span.data);
  write(directory_of(key), {prefix_, span.stream.process->pid, false}, line);
}

void Exporter::main_line(const BatchKey& key, LineKind kind, std::int64_t start, std::int64_t ns,
                         std::int64_t at) {
  Line line;
  line.kind = kind;
  line.batch = key.batch;
  line.start = start;
  line.duration = ns;
  main_[{directory_of(key), key.training->pid}].push_back({at, line});
}

void Exporter::on_batch(const Batch& batch) {
  if (!wanted(batch.key)) return;
  const auto& clock = trace_.clock;
  if (batch.waited()) {
    const std::int64_t start = clock.ns(batch.wait.start);
    std::int64_t ns = clock.between(batch.wait.start, batch.wait.end);
    // An ordinary wait of just the literal's length would be taken for a batch out of order.
    if (ns == kInstantNs) ++ns;
    if (batch.out_of_order) ns = kInstantNs;
    main_line(batch.key, LineKind::wait, start, ns, batch.out_of_order ? start : start + ns);
  }
  const std::pair<LineKind, std::uint64_t> instants[] = {{LineKind::queued, batch.queued},
                                                         {LineKind::consumed, batch.consumed}};
  for (const auto& [kind, ticks] : instants)
    if (ticks != kUnknown) main_line(batch.key, kind, clock.ns(ticks), kInstantNs, clock.ns(ticks));
  if (batch.pin.known())
    main_line(batch.key, LineKind::pinned, clock.ns(batch.pin.start),
              clock.between(batch.pin.start, batch.pin.end), clock.ns(batch.pin.end));
}

// The order of lines with the same time: first pinning, then the wait for it, then the later events.
void Exporter::finish() {
  const auto rank = [](const Written& written) {
    switch (written.line.kind) {
      case LineKind::pinned:
        return 0;
      case LineKind::wait:
        return 1;
      case LineKind::queued:
        return 2;
      default:
        return 3;
    }
  };
  for (auto& [key, written] : main_) {
    std::sort(written.begin(), written.end(), [&](const Written& a, const Written& b) {
      return std::tuple(a.at, rank(a), a.line.batch) < std::tuple(b.at, rank(b), b.line.batch);
    });
    for (const auto& one : written) write(key.first, {prefix_, key.second, true}, one.line);
  }
  main_.clear();
}

}  // namespace lotus::analyzer::lotustrace
