#include "showing/html/sample_gallery.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reading/model/file_hooks.hpp"
#include "showing/html/column.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::size_t kNoOp = SIZE_MAX;

}  // namespace

void SampleGallery::begin(const Trace& trace) {
  trace_ = &trace;
  bytes_.clear();
  names_.clear();
}

bool SampleGallery::reads_files(const Process& process, std::uint64_t hook) {
  constexpr std::uint64_t kMostHooks = 1 << 16;  // more is damage
  if (hook >= kMostHooks) return false;
  auto& known = file_hooks_[&process];
  if (known.empty())
    for (const auto& [id, row] : process.hooks)
      if (id < kMostHooks && is_file_hook(row.name)) {
        known.resize(std::max<std::size_t>(known.size(), id + 1));
        known[id] = true;
      }
  return hook < known.size() && known[hook];
}

void SampleGallery::on_native(const Stream& stream, const Record& record) {
  if (stream.stack.back().sample == kNoSpan ||
      !reads_files(*stream.process, field<Kind::native, "hook">(record)))
    return;
  bytes_[&stream] += static_cast<double>(field<Kind::native, "bytes">(record));
}

std::size_t SampleGallery::name_of(const Op* op) {
  if (op == nullptr) return kNoOp;
  const auto known = names_.find(op);
  if (known != names_.end()) return known->second;
  const auto [slot, fresh] = ids_.try_emplace(op->name, ops_.size());
  if (fresh) ops_.push_back(op->name);
  return names_[op] = slot->second;
}

void SampleGallery::on_span(const Span& span) {
  if (span.kind() != Kind::sample) return;
  const bool outermost = span.data.sample == static_cast<std::int32_t>(span.depth);
  if (!outermost || span.ended == Ended::empty || span.ended == Ended::lost) return;
  Sample sample;
  sample.ns = static_cast<double>(trace_->clock.between(span.data.start, span.end));
  if (const auto read = bytes_.find(&span.stream); read != bytes_.end() && read->second > 0) {
    sample.bytes = std::exchange(read->second, 0);
    ++with_bytes_;
  }
  sample.first = span.is_workers_first();
  ++seen_;
  firsts_ += sample.first;
  keep_slow(sample, span);
  keep(sample, span);
}

// Every sample has the same chance to be among the chosen (reservoir sampling).
void SampleGallery::keep(Sample sample, const Span& span) {
  std::size_t place = chosen_.size();
  if (place == kChosen) {
    place = std::uniform_int_distribution<std::size_t>(0, seen_ - 1)(random_);
    if (place >= kChosen) return;
  } else {
    chosen_.emplace_back();
  }
  sample.op = name_of(span.data.op);
  chosen_[place] = std::move(sample);
}

void SampleGallery::keep_slow(Sample sample, const Span& span) {
  if (!slowest_.takes(sample.ns, sample.first)) return;
  const Process& process = *span.stream.process;
  sample.index = field<Kind::sample, "index">(span.data);
  sample.pid = process.pid;
  if (process.worker_of) sample.worker = static_cast<std::int64_t>(process.worker_of->worker);
  sample.op = name_of(span.data.op);
  if (span.data.has_path) sample.path = span.stream.sample_path;
  slowest_.add(std::move(sample));
}

nlohmann::ordered_json SampleGallery::json() const {
  const std::uint64_t left_out = firsts_ < seen_ ? firsts_ : 0;
  nlohmann::ordered_json json = {
      {"seen", seen_ - left_out}, {"left_out", left_out}, {"with_bytes", with_bytes_}, {"ops", ops_}};
  json["slowest"] = nlohmann::ordered_json::array();
  for (const Sample& s : slowest_.rows()) {
    nlohmann::ordered_json row = {{"index", s.index}, {"path", nullptr}, {"ms", s.ns / 1e6},
                                  {"op", nullptr},    {"pid", s.pid},    {"worker", s.worker},
                                  {"bytes", nullptr}};
    if (!s.path.empty()) row["path"] = s.path;
    if (s.op != kNoOp) row["op"] = ops_[s.op];
    if (s.bytes >= 0) row["bytes"] = s.bytes;
    json["slowest"].push_back(std::move(row));
  }
  std::vector<double> ms, bytes;
  Column<2> op;
  for (const Sample& s : chosen_) {
    if (s.first && left_out > 0) continue;
    ms.push_back(s.ns / 1e6);
    bytes.push_back(s.bytes);
    s.op == kNoOp ? op.add_missing() : op.add(s.op);
  }
  json["chosen"] = {
      {"count", ms.size()}, {"ms", float_column(ms)}, {"bytes", float_column(bytes)}, {"op", op.text()}};
  return json;
}

}  // namespace lotus::analyzer
