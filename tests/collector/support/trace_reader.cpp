#include "support/trace_reader.hpp"

#include <zstd.h>

#include <cstring>
#include <lotus/field.hpp>
#include <numeric>

#include "support/temporary.hpp"

namespace lotus::test {
namespace {

template <class Structure>
bool copy_out(const std::vector<std::uint8_t>& body, Structure& target) {
  if (body.size() != sizeof target) return false;
  std::memcpy(&target, body.data(), sizeof target);
  return true;
}

bool unpack_body(Frame& frame, const char* stored) {
  const FrameHeader& header = frame.header;
  frame.body.resize(header.raw_bytes);
  if (header.codec == Codec::raw) {
    if (header.raw_bytes != header.stored_bytes) return false;
    std::memcpy(frame.body.data(), stored, header.stored_bytes);
    return true;
  }
  const std::size_t size = ZSTD_decompress(frame.body.data(), frame.body.size(), stored, header.stored_bytes);
  return ZSTD_isError(size) == 0 && size == header.raw_bytes;
}

// Calls visit(record) for each record of a frame; false if its bytes are not whole records.
template <class Visit>
bool each_record(const Frame& frame, Visit visit) {
  const std::uint8_t* at = frame.body.data();
  const std::uint8_t* const end = at + frame.body.size();
  Record record;
  while (at != end) {
    at = decode(at, end, record);
    if (at == nullptr) return false;
    visit(record);
  }
  return true;
}

std::string check_index(const Trace& trace, std::size_t first_index, const TrailerFrame& trailer) {
  std::vector<std::uint8_t> bytes;
  std::size_t frames = 0;
  for (std::size_t i = first_index; i + 1 < trace.frames.size(); ++i, ++frames) {
    if (trace.frames[i].header.type != FrameType::index) return "something stands between index and trailer";
    bytes.insert(bytes.end(), trace.frames[i].body.begin(), trace.frames[i].body.end());
  }
  if (trailer.index_frames != frames) return "the trailer counts other index frames";
  if (frames > 0 && trailer.index_offset != trace.frames[first_index].offset) return "index_offset is wrong";
  if (bytes.size() != first_index * sizeof(IndexEntry)) return "the index does not have one entry per frame";
  for (std::size_t i = 0; i < first_index; ++i) {
    IndexEntry entry{};
    std::memcpy(&entry, bytes.data() + i * sizeof entry, sizeof entry);
    const FrameHeader& header = trace.frames[i].header;
    const bool right = entry.offset == trace.frames[i].offset && entry.base_ticks == header.base_ticks &&
                       entry.process == header.process && entry.stream == header.stream &&
                       entry.events == header.events && entry.type == header.type;
    if (!right) return "index entry " + std::to_string(i) + " is wrong";
  }
  return {};
}

}  // namespace

TrailerFrame Trace::trailer() const {
  TrailerFrame trailer{};
  if (closed()) copy_out(frames.back().body, trailer);
  return trailer;
}

std::size_t Trace::count(FrameType type) const {
  std::size_t n = 0;
  for (const Frame& frame : frames) n += frame.header.type == type ? 1 : 0;
  return n;
}

std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> Trace::serials() const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> found;
  std::map<std::uint32_t, std::uint32_t> pids;
  for (const Frame& frame : frames) {
    ProcessFrame process{};
    if (frame.header.type == FrameType::process && copy_out(frame.body, process))
      pids[frame.header.process] = process.pid;
    if (frame.header.type != FrameType::chunk) continue;
    auto& list = found[{pids[frame.header.process], frame.header.stream}];
    each_record(frame, [&](const Record& record) {
      if (record.kind == Kind::bytes) list.push_back(field<Kind::bytes, "count">(record));
    });
  }
  return found;
}

std::map<std::uint32_t, std::vector<std::uint64_t>> Trace::definitions() const {
  std::map<std::uint32_t, std::vector<std::uint64_t>> found;
  for (const Frame& frame : frames)
    if (frame.header.type == FrameType::definitions)
      each_record(frame, [&](const Record& record) { found[frame.header.process].push_back(record.u[0]); });
  return found;
}

Trace read_trace(const std::string& path) {
  Trace trace;
  const std::string bytes = read_text(path);
  const auto wrong = [&](const std::string& what) {
    trace.problem = what;
    return trace;
  };
  if (bytes.size() < sizeof trace.header) return wrong("no file header");
  std::memcpy(&trace.header, bytes.data(), sizeof trace.header);
  if (std::memcmp(trace.header.magic, kTraceMagic, sizeof kTraceMagic) != 0) return wrong("no Lotus trace");
  std::uint64_t at = trace.header.header_bytes;
  while (at < bytes.size()) {
    Frame frame;
    frame.offset = at;
    const std::string where = " at " + std::to_string(at);
    if (bytes.size() - at < sizeof frame.header) return wrong("half a frame header" + where);
    std::memcpy(&frame.header, bytes.data() + at, sizeof frame.header);
    if (frame.header.magic != kFrameMagic || frame.header.check != frame_check(frame.header))
      return wrong("no frame" + where);
    at += sizeof frame.header;
    if (bytes.size() - at < frame.header.stored_bytes) return wrong("half a frame" + where);
    if (frame.header.raw_bytes > kMaxRawFrame || !unpack_body(frame, bytes.data() + at))
      return wrong("a damaged frame" + where);
    at += frame.header.stored_bytes;
    trace.frames.push_back(std::move(frame));
  }
  return trace;
}

std::string what_is_wrong(const Trace& trace) {
  if (!trace.problem.empty()) return trace.problem;
  if (!trace.closed()) return "no trailer";
  const TrailerFrame trailer = trace.trailer();
  if (trace.frames.front().header.type != FrameType::schema) return "the first frame is no schema";
  std::set<std::uint32_t> known;
  std::set<std::uint32_t> ended;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>> chunks;
  std::uint64_t events = 0;
  std::size_t first_index = 0;
  for (const Frame& frame : trace.frames) {
    const FrameHeader& header = frame.header;
    if (header.type == FrameType::index || header.type == FrameType::trailer) break;
    ++first_index;
    if (header.type == FrameType::process && !known.insert(header.process).second) return "a process twice";
    if (header.process != 0 && !known.contains(header.process)) return "a frame before its process frame";
    if (header.process != 0 && ended.contains(header.process)) return "a frame behind its process's end";
    if (header.type == FrameType::process_end) ended.insert(header.process);
    if (header.type == FrameType::definitions && !each_record(frame, [](const Record&) {}))
      return "definitions that are no records";
    if (header.type != FrameType::chunk) continue;
    if (!chunks.insert({header.process, header.stream, header.sequence}).second) return "a chunk twice";
    std::uint32_t records = 0;
    if (!each_record(frame, [&](const Record& record) { records += record.kind == Kind::open ? 0 : 1; }))
      return "a chunk that is no records";
    if (records != header.events) return "a chunk with another number of events than it says";
    events += header.events;
  }
  if (trailer.events != events) return "the trailer counts other events";
  if (trailer.processes != known.size()) return "the trailer counts other processes";
  if (trace.count(FrameType::clock) < 2) return "fewer than two clock frames";
  return check_index(trace, first_index, trailer);
}

std::vector<std::uint64_t> up_to(std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  std::iota(all.begin(), all.end(), std::uint64_t{1});
  return all;
}

}  // namespace lotus::test
