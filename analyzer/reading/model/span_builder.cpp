#include "reading/model/span_builder.hpp"

#include <algorithm>

namespace lotus::analyzer {

namespace {

// What a library's thread calls may have been recorded as an operation before the loader was known. Where it
// asks a loader for batches, and makes none itself, it is the training.
void forget_training_loops(std::vector<OpenSpan>& stack) {
  for (OpenSpan& around : stack)
    if (around.kind == Kind::op && around.fetch == kNoSpan && around.sample == kNoSpan) {
      around.kind = Kind{};
      around.op = nullptr;
    }
}

}  // namespace

bool SpanBuilder::enter(Stream& stream, Kind kind, std::uint8_t code, std::uint64_t ticks,
                        const std::uint64_t* fields, std::size_t count) {
  auto& stack = stream.stack;
  if (stack.size() >= kMaxDepth) return false;
  if (kind == Kind::next) forget_training_loops(stack);
  const auto own = static_cast<std::int32_t>(stack.size());
  const std::int32_t sample = stack.empty() ? kNoSpan : stack.back().sample;
  const std::int32_t fetch = stack.empty() ? kNoSpan : stack.back().fetch;
  OpenSpan& span = stack.emplace_back();
  span.kind = kind;
  span.code = code;
  span.start = ticks;
  span.sample = kind == Kind::sample && sample == kNoSpan ? own : sample;
  span.fetch = kind == Kind::fetch ? own : fetch;
  std::copy_n(fields, std::min(count, span.fields.size()), span.fields.begin());
  if (kind == Kind::op) span.op = &catalog_.op(*stream.process, field<Kind::op, "def">(span));
  return true;
}

void SpanBuilder::leave(Stream& stream, Ended ended, std::uint64_t ticks) {
  auto& stack = stream.stack;
  if (stack.empty()) {
    ++reading_.unmatched_leaves;
    return;
  }
  // A dataset whose samples are no calls of Python, as of a list.
  OpenSpan& ended_span = stack.back();
  if (ended_span.kind == Kind::fetch && ended == Ended::returned && ended_span.samples == 0 &&
      !ended_span.gapped && !ended_span.starved)
    count_samples(ended_span, 0);
  const std::size_t depth = stack.size() - 1;
  OpenSpan* const parent = depth > 0 ? &stack[depth - 1] : nullptr;
  const Span span{stream, stack.back(), parent, depth, ended, ticks};
  if (span.kind() == Kind::op) {
    account_op(stream, span, parent);
  } else {
    account_sample(stream, span, parent);
    batches_.on_span(stream, span);
  }
  const auto is_next = [](const OpenSpan& open) { return open.kind == Kind::next; };
  if (span.kind() == Kind::next && std::none_of(stack.begin(), std::prev(stack.end()), is_next))
    stream.loops.add(span.data, ticks);
  visitor_.on_span(span);
  if (parent != nullptr) parent->python_calls.add(span.data.python_calls);
  stream.samples += span.kind() == Kind::sample && span.data.sample == static_cast<std::int32_t>(depth);
  stack.pop_back();
}

// Adds an op's time to its parent's inner time, which is no self time; runners are skipped.
void SpanBuilder::account_op(Stream& stream, const Span& span, OpenSpan* parent) {
  const bool counts = span.data.op->role != OpRole::runner;
  if (parent != nullptr) parent->op_ticks += counts ? span.ticks() : span.data.op_ticks;
  if (!counts || span.data.sample == kNoSpan) return;
  OpenSpan& sample = stream.stack[static_cast<std::size_t>(span.data.sample)];
  if (span.self_ticks() < sample.worst_ticks) return;
  sample.worst_ticks = span.self_ticks();
  sample.op = span.data.op;
}

void SpanBuilder::count_samples(OpenSpan& fetch, std::uint64_t whole_batch) {
  fetch.unsized = fetch.unsized || whole_batch == 0;
  fetch.samples += whole_batch == kUnknown || whole_batch == 0 ? 1 : whole_batch;
}

// A helper method of the dataset, which is an operation, may lie between `samples` and the sample.
void SpanBuilder::note_inner(Stream& stream, std::size_t depth) {
  while (depth-- > 0) {
    OpenSpan& around = stream.stack[depth];
    if (around.kind == Kind::samples) around.has_inner = true;
    if (around.kind != Kind::op) return;
  }
}

void SpanBuilder::account_sample(Stream& stream, const Span& span, OpenSpan* parent) {
  const OpenSpan& data = span.data;
  if (parent != nullptr) parent->op_ticks += data.op_ticks;
  const bool outermost_sample =
      data.kind == Kind::sample && data.sample == static_cast<std::int32_t>(span.depth);
  if (outermost_sample) note_inner(stream, span.depth);
  if (data.fetch == kNoSpan) return;
  OpenSpan& fetch = stream.stack[static_cast<std::size_t>(data.fetch)];
  if (outermost_sample && span.ended == Ended::returned) count_samples(fetch, data.whole_batch);
  if (outermost_sample && span.ended == Ended::empty) fetch.starved = true;
  if (data.kind == Kind::samples && span.ended == Ended::returned && !data.has_inner)
    fetch.samples += field<Kind::samples, "count">(data);
}

void SpanBuilder::point(Stream& stream, const Record& record, std::uint64_t ticks) {
  OpenSpan* const innermost = stream.stack.empty() ? nullptr : &stream.stack.back();
  switch (record.kind) {
    case Kind::bytes:
      if (innermost != nullptr) innermost->bytes += field<Kind::bytes, "count">(record);
      return;
    case Kind::storages:
      if (innermost == nullptr) return;
      innermost->storages = field<Kind::storages, "count">(record);
      innermost->storage_bytes = field<Kind::storages, "bytes">(record);
      return;
    case Kind::cpu:
      if (innermost == nullptr) return;
      innermost->cpu_ns = field<Kind::cpu, "ns">(record);
      innermost->has_cpu = true;
      return;
    case Kind::path:
      return take_path(stream, record);
    case Kind::native:
      if (innermost != nullptr) visitor_.on_native(stream, record);
      return;
    case Kind::whole_batch:
      if (innermost == nullptr) return;
      innermost->whole_batch = field<Kind::whole_batch, "count">(record);
      if (innermost->kind == Kind::fetch) count_samples(*innermost, innermost->whole_batch);
      return;
    case Kind::no_operators:
      if (innermost != nullptr) innermost->no_operators = true;
      return;
    case Kind::python_calls: {
      const PythonCalls calls{field<Kind::python_calls, "calls">(record),
                              field<Kind::python_calls, "ns">(record)};
      reading_.python_calls.add(calls);
      if (innermost != nullptr) innermost->python_calls.add(calls);
      return;
    }
    case Kind::standing:
      stream.standing.push_back({std::string(field<Kind::standing, "function">(record)),
                                 std::string(field<Kind::standing, "file">(record)),
                                 field<Kind::standing, "line">(record)});
      return;
    case Kind::unreadable:
      stream.unreadable = field<Kind::unreadable, "error">(record);
      return;
    case Kind::seen:
      stream.seen = ticks;
      return;
    case Kind::core_wait:
      if (innermost != nullptr) innermost->core_wait_ns = field<Kind::core_wait, "ns">(record);
      return;
    case Kind::others_steps:
      if (innermost != nullptr) innermost->others_steps = field<Kind::others_steps, "count">(record);
      return;
    case Kind::process_cpu:
      if (innermost == nullptr) return;
      innermost->process_cpu_after = field<Kind::process_cpu, "ns">(record);
      if (innermost->process_cpu_before == kUnknown)
        innermost->process_cpu_before = innermost->process_cpu_after;
      return;
    default:
      batches_.on_point(stream, record, ticks);
      return visitor_.on_point(stream, record, ticks);
  }
}

void SpanBuilder::take_path(Stream& stream, const Record& record) {
  std::string& path = stream.chunk_path;
  const std::uint64_t shared = field<Kind::path, "shared">(record);
  const std::string_view suffix = field<Kind::path, "suffix">(record);
  if (shared > path.size()) return;  // the path that it shares a prefix with is not in this chunk
  if (shared + suffix.size() > kMaxStringInRecord) return path.clear();  // no writer makes such a path
  path.resize(shared);
  path.append(suffix);
  const std::int32_t sample = stream.stack.empty() ? kNoSpan : stream.stack.back().sample;
  if (sample == kNoSpan) return;
  stream.stack[static_cast<std::size_t>(sample)].has_path = true;
  stream.sample_path = path;
}

void SpanBuilder::begin_rebuild(Stream& stream) {
  before_gap_ = std::move(stream.stack);
  stream.stack.clear();
  batches_.on_gap(stream);
}

bool SpanBuilder::reopen(Stream& stream, const Record& record, std::uint64_t ticks) {
  std::uint64_t fields[kMaxSpanFields] = {field<Kind::open, "a">(record), field<Kind::open, "b">(record),
                                          field<Kind::open, "c">(record)};
  const std::uint64_t code = field<Kind::open, "kind">(record);
  const Kind kind = code < 256 ? static_cast<Kind>(code) : Kind{};
  const auto& row = kSchema.rows[static_cast<std::uint8_t>(kind)];
  for (std::size_t i = 0; i < kMaxSpanFields; ++i) fields[i] = decoded(row.types[i], fields[i]);
  const std::uint64_t age = field<Kind::open, "age">(record);
  const std::uint64_t start = age <= ticks ? ticks - age : ticks;
  if (!enter(stream, kind, static_cast<std::uint8_t>(kind), start, fields, std::size(fields))) return false;
  OpenSpan& span = stream.stack.back();
  const std::size_t at = stream.stack.size() - 1;
  if (at < before_gap_.size()) {
    const OpenSpan& known = before_gap_[at];
    if (known.kind == kind && known.start == start && known.fields == span.fields) span = known;
  }
  span.gapped = true;
  return true;
}

void SpanBuilder::end_rebuild(Stream& stream) {
  const auto survived = [&](std::size_t i) {
    return i < stream.stack.size() && stream.stack[i].kind == before_gap_[i].kind &&
           stream.stack[i].start == before_gap_[i].start;
  };
  for (std::size_t i = 0; i < before_gap_.size(); ++i) reading_.dropped_spans += survived(i) ? 0 : 1;
  before_gap_.clear();
}

void SpanBuilder::abandon(Stream& stream) {
  for (std::size_t depth = 0; depth < stream.stack.size(); ++depth)
    visitor_.on_open_span(stream, stream.stack[depth], depth);
  reading_.open_spans += stream.stack.size();
  stream.stack.clear();
}

}  // namespace lotus::analyzer
