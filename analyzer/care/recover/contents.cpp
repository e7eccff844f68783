#include "care/recover/contents.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <lotus/field.hpp>

#include "reading/trace/frames.hpp"
#include "reading/trace/header.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::uint32_t kMaxTickShift = 20;
constexpr double kSameRate = 0.001;  // calibration pairs that are a second apart agree better than that

template <class T>
T structure(std::span<const std::uint8_t> body) {
  T value{};
  std::memcpy(&value, body.data(), sizeof value);
  return value;
}

bool is_frame_at(const Source& source, std::uint64_t offset) {
  FrameHeader header{};
  return source.read(offset, &header, sizeof header) == sizeof header && header.magic == kFrameMagic &&
         header.check == frame_check(header);
}

// The clock of a trace, derived from its rate: the monotonic clock has 2^shift ns a tick; any other rate is
// that of a TSC.
void guess_clock(FileHeader& header, const ClockPair& first, const ClockPair& last) {
  header.clock_source = ClockSource::tsc;
  header.tick_shift = kTickShift;
  if (last.ticks <= first.ticks || last.realtime_ns <= first.realtime_ns) return;
  const double rate = static_cast<double>(last.realtime_ns - first.realtime_ns) /
                      static_cast<double>(last.ticks - first.ticks);
  for (std::uint32_t shift = 0; shift <= kMaxTickShift; ++shift) {
    if (std::abs(rate / std::ldexp(1.0, static_cast<int>(shift)) - 1) > kSameRate) continue;
    header.clock_source = ClockSource::monotonic;
    header.tick_shift = shift;
  }
}

}  // namespace

Contents::Contents(const Source& source) : inspector_(source) {
  scan(source, read_header(source));
  if (kept_.empty() && !has_schema_)
    throw Unusable(
        fmt::format("{}: there is no whole frame of a Lotus trace in its {} bytes: nothing can be recovered",
                    escaped(source.path()), source.size()));
  if (header_damaged_) rebuild_header();
  settle();
}

// The offset of the first frame. A damaged file header is rebuilt from the frames.
std::uint64_t Contents::read_header(const Source& source) {
  try {
    header_ = read_file_header(source);
    if (header_.header_bytes == sizeof header_ || is_frame_at(source, header_.header_bytes))
      return header_.header_bytes;
  } catch (const Unusable&) {
    if (header_.version > kTraceVersion) throw;
  }
  header_damaged_ = true;
  return is_frame_at(source, sizeof header_) ? sizeof header_ : 0;
}

void Contents::scan(const Source& source, std::uint64_t begin) {
  Frame frame;
  for (FrameCursor cursor(source, begin); cursor.next(frame);)
    if (frame.header.type == FrameType::schema) inspector_.learn(frame);
  FrameCursor cursor(source, begin);
  while (cursor.next(frame)) take(frame);
  for (const DamagedRange& range : cursor.damage().ranges) damage_.add(range);
  damage_.count += cursor.damage().count - cursor.damage().ranges.size();
  if (cursor.cut_off())
    damage_.add({*cursor.cut_off(), source.size() - *cursor.cut_off(), "the file ends inside a frame"});
  if (header_damaged_ && begin > 0) damage_.add({0, begin, "the file header"});
}

void Contents::take(const Frame& frame) {
  trailer_.reset();  // only the last frame closes a file
  const Inspected found = inspector_.inspect(frame);
  if (!found.usable) {
    damaged(frame, frame.end() - frame.offset, found.problem);
    losses_.add_damaged(frame.header);
    return;
  }
  take_usable(frame, found);
}

void Contents::take_usable(const Frame& frame, const Inspected& found) {
  switch (frame.header.type) {
    case FrameType::schema:
      has_schema_ = true;
      return;  // written first in any case
    case FrameType::index:
      has_index_ = true;
      return losses_.add_index(reinterpret_cast<const IndexEntry*>(found.body.data()),
                               found.body.size() / sizeof(IndexEntry));
    case FrameType::trailer:
      trailer_ = structure<TrailerFrame>(found.body);
      return add_pair(trailer_->closed);
    case FrameType::clock:
      add_pair(structure<ClockPair>(found.body));
      return keep(frame, found);
    case FrameType::process:
    case FrameType::process_end:
      return take_process(frame, found);
    default:
      return keep(frame, found);
  }
}

void Contents::take_process(const Frame& frame, const Inspected& found) {
  keep(frame, found);
  ProcessFacts& facts = processes_[frame.header.process];
  if (frame.header.type == FrameType::process_end) {
    facts.has_end = true;
    return add_pair(structure<ProcessEndFrame>(found.body).seen);
  }
  const auto process = structure<ProcessFrame>(found.body);
  facts.has_frame = true;
  facts.pid = process.pid;
  facts.parent_pid = process.parent_pid;
  add_pair(process.created);
}

// If a process's own frame is lost, its definitions may identify the process.
void Contents::name_process(const Frame& frame, const Inspected& found) {
  ProcessFacts& facts = processes_[frame.header.process];
  const std::uint8_t* in = found.body.data();
  const std::uint8_t* const end = in + found.body.size();
  Record record;
  while (facts.pid == 0 && (in = decode_known(in, end, record, inspector_.schema())) != nullptr) {
    if (record.kind != Kind::process || !inspector_.schema().understood(record.kind)) continue;
    facts.pid = static_cast<std::uint32_t>(field<Kind::process, "pid">(record));
    facts.parent_pid = static_cast<std::uint32_t>(field<Kind::process, "parent">(record));
  }
}

void Contents::keep(const Frame& frame, const Inspected& found) {
  const FrameHeader& header = frame.header;
  if (header.type == FrameType::chunk) {
    if (!losses_.add_chunk(header, found.last_ticks, kept_.size()))
      return damaged(frame, frame.end() - frame.offset, "repeats or precedes a chunk that was read before");
    if (!found.whole && header.events > found.events)
      losses_.add_rest_of_chunk(header, header.events - found.events);
  } else if (header.type == FrameType::definitions || header.type == FrameType::samples) {
    losses_.add_other(header);
  }
  if (!found.whole) damaged(frame, header.raw_bytes - found.body.size(), found.problem);
  if (header.process != 0) {
    const auto [facts, fresh] = processes_.try_emplace(header.process);
    if (fresh) facts->second.first_kept = kept_.size();
    if (header.type == FrameType::definitions) name_process(frame, found);
  }
  kept_.push_back({frame.offset, 0, static_cast<std::uint32_t>(found.body.size()),
                   static_cast<std::uint32_t>(found.events)});
}

void Contents::damaged(const Frame& frame, std::uint64_t bytes, const std::string& problem) {
  damage_.add({frame.offset, bytes, fmt::format("a frame that cannot be used: {}", problem)});
}

void Contents::add_pair(const ClockPair& pair) {
  if (pair.ticks != 0 && pair.realtime_ns != 0) pairs_.insert(pair);
}

void Contents::rebuild_header() {
  FileHeader header{};
  std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
  header.version = kTraceVersion;
  header.header_bytes = sizeof header;
  if (!processes_.empty()) header.session_pid = processes_.begin()->second.pid;
  if (!pairs_.empty()) {
    header.created = *pairs_.begin();
    guess_clock(header, *pairs_.begin(), *pairs_.rbegin());
  }
  header_ = header;
}

void Contents::settle() {
  losses_.settle();
  for (const Hole& hole : losses_.holes())
    if (hole.before != Hole::kNone) kept_[hole.before].lost_here += hole.events;
}

}  // namespace lotus::analyzer
