#include "reading/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "reading/trace/frames.hpp"
#include "reading/trace/header.hpp"
#include "reading/trace/payload.hpp"

namespace lotus::analyzer {
namespace {

using Body = std::span<const std::uint8_t>;

// The structure at the start of a body; later minor revisions may have made it longer.
template <class T>
bool take(Body body, T& target) {
  if (body.size() < sizeof target) return false;
  std::memcpy(&target, body.data(), sizeof target);
  return true;
}

class Survey {
 public:
  explicit Survey(Trace& trace)
      : trace_(trace), cursor_(trace.source, trace.header.header_bytes), payload_(trace.source) {}

  void run() {
    Frame frame;
    while (cursor_.next(frame)) visit(frame);
    for (const auto& [stream, chunk] : last_chunks_) find_last_record(chunk);
    trace_.cut_off = cursor_.cut_off();
    for (const auto& range : cursor_.damage().ranges) trace_.damage.ranges.push_back(range);
    trace_.damage.count += cursor_.damage().count;
    trace_.damage.bytes += cursor_.damage().bytes;
  }

 private:
  void visit(const Frame& frame) {
    const FrameHeader& header = frame.header;
    trace_.trailer.reset();  // only the last frame closes a file
    ++trace_.frames.by_type[static_cast<std::uint8_t>(header.type)];
    if (header.type == FrameType::chunk) {
      trace_.catalog.process(header.process);
      trace_.frames.chunk_events += header.events;
      trace_.frames.salvaged += (header.flags & kSalvaged) != 0 ? 1 : 0;
      last_chunks_[{header.process, header.stream}] = frame;
      return;
    }
    if (header.type == FrameType::samples) {
      trace_.catalog.process(header.process);
      trace_.frames.samples += header.events;
      return;
    }
    if (header.type == FrameType::index || header.type > FrameType::trailer) return;
    Body body;
    if (!payload_.read(frame, body)) return damaged(frame, payload_.problem());
    if (!take_body(frame, body)) damaged(frame, "its content is not what its type promises");
  }

  void find_last_record(const Frame& chunk) {
    Process& process = trace_.catalog.process(chunk.header.process);
    if (process.end) return;
    std::uint64_t ticks = chunk.header.base_ticks;
    Body body;
    Record record;
    if (payload_.read(chunk, body)) {  // a damaged chunk is reported later, when it is read
      const std::uint8_t* in = body.data();
      const std::uint8_t* const end = in + body.size();
      while (in < end && (in = decode_known(in, end, record, trace_.schema)) != nullptr) ticks += record.dt;
    }
    const auto thread = process.threads.find(chunk.header.stream);
    std::uint64_t& last = process.last_records[thread == process.threads.end() ? 0 : thread->second.tid];
    last = std::max(last, ticks);
  }

  void damaged(const Frame& frame, const std::string& problem) {
    trace_.damage.add({frame.offset, frame.end() - frame.offset, fmt::format("frame unusable: {}", problem)});
  }

  bool take_body(const Frame& frame, Body body) {
    switch (frame.header.type) {
      case FrameType::schema:
        return trace_.schema.parse(body);
      case FrameType::process:
        return take_process(frame.header.process, body);
      case FrameType::definitions:
        return take_definitions(frame.header, body);
      case FrameType::clock:
        return take_clock(body);
      case FrameType::process_end:
        return take_end(frame.header, body);
      case FrameType::trailer:
        return take_trailer(body);
      default:
        return true;
    }
  }

  bool take_process(std::uint32_t number, Body body) {
    ProcessFrame found{};
    if (!take(body, found)) return false;
    Process& process = trace_.catalog.process(number);
    process.pid = found.pid;
    process.parent_pid = found.parent_pid;
    process.created = found.created;
    trace_.clock.add(found.created);
    return true;
  }

  bool take_definitions(const FrameHeader& header, Body body) {
    const std::uint8_t* in = body.data();
    const std::uint8_t* const end = in + body.size();
    std::uint64_t ticks = header.base_ticks;
    Record record;
    while (in < end) {
      in = decode_known(in, end, record, trace_.schema);
      if (in == nullptr) return false;
      ticks += record.dt;
      if (!trace_.schema.understood(record.kind)) continue;
      if (header.process == 0)
        trace_.stacks.define(record);
      else
        trace_.catalog.define(header.process, record, ticks);
    }
    return true;
  }

  bool take_clock(Body body) {
    ClockPair pair{};
    if (!take(body, pair)) return false;
    trace_.clock.add(pair);
    return true;
  }

  bool take_end(const FrameHeader& header, Body body) {
    ProcessEndFrame end{};
    if (!take(body, end)) return false;
    trace_.clock.add(end.seen);
    Process& process = trace_.catalog.process(header.process);
    process.end = end;
    if ((header.flags & kLeft) != 0) process.ending = Ending::left;
    if ((header.flags & kKilled) != 0) process.ending = Ending::killed;
    return true;
  }

  bool take_trailer(Body body) {
    TrailerFrame trailer{};
    if (!take(body, trailer)) return false;
    trace_.clock.add(trailer.closed);
    trace_.trailer = trailer;
    return true;
  }

  Trace& trace_;
  FrameCursor cursor_;
  PayloadReader payload_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Frame> last_chunks_;  // by process and stream
};

}  // namespace

Trace::Trace(std::string path)
    : source(std::move(path)),
      header(read_file_header(source)),
      clock(header.clock_source, header.tick_shift) {
  clock.add(header.created);
  Survey(*this).run();
  clock.settle();
  catalog.link_workers();
}

std::uint64_t Trace::lost_events() const {
  std::uint64_t lost = 0;
  for (const auto& [number, process] : catalog.processes())
    if (process->end) lost += process->end->lost_events;
  return lost;
}

std::uint64_t Trace::lost_snapshots() const {
  std::uint64_t lost = 0;
  for (const auto& [number, process] : catalog.processes())
    if (process->end) lost += process->end->lost_snapshots;
  return lost;
}

}  // namespace lotus::analyzer
