#include "reading/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reading/trace/payload.hpp"

namespace lotus::analyzer {
namespace {

constexpr auto kLeaveCode = static_cast<std::uint8_t>(Kind::leave);
constexpr auto kOpCode = static_cast<std::uint8_t>(Kind::op);
constexpr auto kOpenCode = static_cast<std::uint8_t>(Kind::open);

Ended how_it_ended(Kind kind) {
  switch (kind) {
    case Kind::leave_error:
      return Ended::error;
    case Kind::leave_empty:
      return Ended::empty;
    case Kind::leave_lost:
      return Ended::lost;
    default:
      return Ended::returned;
  }
}

}  // namespace

Model::Model(Trace& trace, Visitor& visitor, Progress progress)
    : trace_(trace),
      visitor_(visitor),
      progress_(std::move(progress)),
      spans_(trace.catalog, visitor, reading_),
      wants_records_(visitor.wants_records()),
      wants_stacks_(visitor.wants_stacks()),
      apart_ticks_(static_cast<std::uint64_t>(Reading::kApartNs / trace.clock.ns_per_tick())),
      quick_(!wants_records_ && trace.schema.exact(Kind::leave) && trace.schema.exact(Kind::op)) {}

const Reading& Model::run() {
  FrameCursor cursor(trace_.source, trace_.header.header_bytes);
  PayloadReader payload(trace_.source);
  Frame next;
  while (cursor.next(next)) {
    if (next.header.type == FrameType::open_chunk)
      open_chunks_[{next.header.process, next.header.stream}] = next;
    const bool wanted = next.header.type == FrameType::chunk ||
                        (wants_stacks_ && next.header.type == FrameType::samples) ||
                        (wants_records_ && next.header.type == FrameType::definitions);
    if (!wanted) continue;
    Body body;
    if (payload.read(next, body))
      frame(next, body);
    else if (next.header.type != FrameType::definitions)
      damaged(next, next.end() - next.offset, payload.problem());
    if (progress_) progress_(cursor.position());
  }
  read_open_chunks(payload);
  for (auto& [key, open] : streams_) spans_.abandon(*open);
  spans_.finish();
  return reading_;
}

// Threads that have not handed on their last chunk: the program still runs, or its collector was killed.
void Model::read_open_chunks(PayloadReader& payload) {
  for (const auto& [key, frame] : open_chunks_) {
    Body body;
    if (frame.header.sequence <= stream(frame.header).sequence) continue;
    if (payload.read(frame, body)) chunk(frame, body);
  }
}

void Model::frame(const Frame& frame, Body body) {
  if (frame.header.type == FrameType::chunk)
    chunk(frame, body);
  else if (frame.header.type == FrameType::samples)
    samples(frame, body);
  else
    definitions(frame.header, body);
}

void Model::damaged(const Frame& frame, std::uint64_t bytes, std::string what) {
  const FrameHeader& header = frame.header;
  const bool sampled = header.type == FrameType::samples;
  const std::string place = sampled ? fmt::format("samples of process {}", header.process)
                                    : fmt::format("chunk {} of thread {} of process {}", header.sequence,
                                                  header.stream, header.process);
  (sampled ? reading_.damaged_samples : reading_.damage.events) += header.events;
  reading_.damage.add({frame.offset, bytes, fmt::format("{}: {}", place, what)});
}

void Model::samples(const Frame& frame, Body body) {
  Cursor at{body.data(), body.data() + body.size(), frame.header.base_ticks};
  const Process& process = trace_.catalog.process(frame.header.process);
  Record record;
  while (at.in < at.end) {
    const std::uint8_t* next = decode_known(at.in, at.end, record, trace_.schema);
    if (next == nullptr)
      return damaged(frame, static_cast<std::uint64_t>(at.end - at.in),
                     "its records end in bytes that are none");
    at.in = next;
    at.ticks += record.dt;
    if (!trace_.schema.understood(record.kind)) continue;
    if (record.kind == Kind::sample_count) visitor_.on_sample_count(process, record, at.ticks);
    if (record.kind == Kind::off_cpu) visitor_.on_off_cpu(process, record, at.ticks);
    if (record.kind != Kind::stack_sample) continue;
    ++reading_.stack_samples;
    visitor_.on_stack_sample(process, record, at.ticks);
  }
}

void Model::definitions(const FrameHeader& header, Body body) {
  Cursor at{body.data(), body.data() + body.size(), header.base_ticks};
  const Process& process = trace_.catalog.process(header.process);
  Record record;
  while (at.in < at.end) {
    at.in = decode_known(at.in, at.end, record, trace_.schema);
    if (at.in == nullptr) return;  // the survey has counted it as damage
    at.ticks += record.dt;
    visitor_.on_definition(process, record, at.ticks);
  }
}

Stream& Model::stream(const FrameHeader& header) {
  auto& slot = streams_[{header.process, header.stream}];
  if (slot == nullptr) {
    slot = std::make_unique<Stream>();
    slot->process = &trace_.catalog.process(header.process);
    slot->number = header.stream;
  }
  return *slot;
}

void Model::chunk(const Frame& frame, Body body) {
  Stream& target = stream(frame.header);
  if (frame.header.sequence <= target.sequence)
    return damaged(frame, frame.end() - frame.offset, "repeats or precedes one that was read before");
  const bool rebuild = begin(target, frame.header);
  Cursor at{body.data(), body.data() + body.size(), frame.header.base_ticks};
  bool whole = reopen(target, at, rebuild);
  std::uint64_t first = 0;
  if (whole && at.in < at.end) get_varint(at.in + 1, at.end, first);
  first += at.ticks;
  whole = whole && decode_all(target, at);
  target.broken = !whole;
  if (!whole)
    damaged(frame, static_cast<std::uint64_t>(at.end - at.in), "its records end in bytes that are none");
  note_extent(target, first, at);
}

void Model::note_extent(const Stream& stream, std::uint64_t first, const Cursor& at) {
  if (at.records == 0) return;
  for (Reading::Extent* extent : {&reading_.whole, &reading_.by_process[stream.process->number]}) {
    extent->records += at.records;
    extent->visits += at.visits;
    extent->first = std::min(extent->first, first);
    extent->last = std::max(extent->last, at.ticks);
  }
}

// Returns whether records are missing before this chunk: the stack of open spans must be rebuilt then.
bool Model::begin(Stream& stream, const FrameHeader& header) {
  const bool gap = header.sequence != stream.sequence + 1 || header.lost_before > 0 || stream.broken;
  stream.sequence = header.sequence;
  stream.chunk_path.clear();
  if (!gap) return false;
  ++reading_.gaps;
  ++stream.gaps;
  reading_.lost_records += header.lost_before;
  visitor_.on_gap(stream, header.lost_before, header.base_ticks);
  return true;
}

// Takes the `open` records at the start of a chunk.
bool Model::reopen(Stream& stream, Cursor& at, bool rebuild) {
  if (rebuild) spans_.begin_rebuild(stream);
  Record record;
  bool sound = true;
  while (sound && at.in < at.end && *at.in == kOpenCode && trace_.schema.understood(Kind::open)) {
    const std::uint8_t* next = decode_known(at.in, at.end, record, trace_.schema);
    sound = next != nullptr;
    if (!sound) break;
    at.in = next;
    at.ticks += record.dt;
    if (wants_records_) show(stream, record, at.ticks);
    std::uint64_t& kind = record.u[kPlaceOf<Kind::open, "kind">];
    if (kind > 255 || !trace_.schema.understood(static_cast<Kind>(kind))) kind = 0;
    if (rebuild) sound = spans_.reopen(stream, record, at.ticks);
  }
  if (rebuild) spans_.end_rebuild(stream);
  return sound;
}

bool Model::decode_all(Stream& stream, Cursor& at) {
  std::uint64_t before = at.ticks;
  for (; at.in < at.end; ++at.records) {
    at.visits += at.ticks - before >= apart_ticks_;
    before = at.ticks;
    const std::uint8_t code = *at.in;
    std::uint64_t dt = 0;
    std::uint64_t id = 0;
    if (quick_ && code == kLeaveCode) {
      const std::uint8_t* next = get_varint(at.in + 1, at.end, dt);
      if (next == nullptr) return false;
      at.in = next;
      at.ticks += dt;
      spans_.leave(stream, Ended::returned, at.ticks);
    } else if (quick_ && code == kOpCode) {
      const std::uint8_t* next = get_varint(at.in + 1, at.end, dt);
      if (next != nullptr) next = get_varint(next, at.end, id);
      if (next == nullptr) return false;
      at.in = next;
      at.ticks += dt;
      if (!spans_.enter(stream, Kind::op, kOpCode, at.ticks, &id, 1)) return false;
    } else if (!decode_one(stream, at)) {
      return false;
    }
  }
  return true;
}

bool Model::decode_one(Stream& stream, Cursor& at) {
  Record record;
  const std::uint8_t* next = decode_known(at.in, at.end, record, trace_.schema);
  if (next == nullptr) return false;
  at.in = next;
  at.ticks += record.dt;
  if (wants_records_) show(stream, record, at.ticks);
  return apply(stream, record, at.ticks);
}

bool Model::apply(Stream& stream, const Record& record, std::uint64_t ticks) {
  const bool understood = trace_.schema.understood(record.kind);
  switch (record.shape) {
    case Shape::enter:
      return spans_.enter(stream, understood ? record.kind : Kind{}, static_cast<std::uint8_t>(record.kind),
                          ticks, record.u, kMaxFields);
    case Shape::leave:
      spans_.leave(stream, understood ? how_it_ended(record.kind) : Ended::returned, ticks);
      return true;
    case Shape::point:
      if (understood) spans_.point(stream, record, ticks);
      return true;
    case Shape::definition:
      return true;  // does not belong in a chunk, but does no harm
  }
  return true;
}

void Model::show(const Stream& stream, const Record& record, std::uint64_t ticks) {
  const bool closes = record.shape == Shape::leave && !stream.stack.empty();
  const std::size_t depth = stream.stack.size() - (closes ? 1 : 0);
  visitor_.on_record(stream, {record, ticks, depth, closes ? &stream.stack.back() : nullptr});
}

}  // namespace lotus::analyzer
