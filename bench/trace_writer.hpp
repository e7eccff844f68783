// Makes trace files without a traced program: for generated traces and for hand-made ones in tests.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <lotus/codec.hpp>
#include <lotus/trace.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lotus::bench {

using Bytes = std::vector<std::uint8_t>;

template <class T>
void append(Bytes& bytes, const T& value) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

// Frames, one after the other, into `bytes`. Ticks are ns unless another clock is asked for.
class TraceWriter {
 public:
  Bytes bytes;          // the file so far, from `drained` on
  FileHeader header{};  // as it was written
  Codec codec = Codec::zstd;

  // `created`: the first calibration pair.
  explicit TraceWriter(ClockPair created, ClockSource source = ClockSource::monotonic,
                       std::uint32_t tick_shift = 0)
      : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
    std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
    header.version = kTraceVersion;
    header.header_bytes = sizeof header;
    header.session_pid = 100;
    header.clock_source = source;
    header.tick_shift = tick_shift;
    header.created = created;
    append(bytes, header);
    schema();
  }

  void frame(FrameHeader head, const Bytes& body) {
    Bytes stored = body;
    if (codec == Codec::zstd && head.type != FrameType::trailer) stored = compressed(body);
    head.magic = kFrameMagic;
    head.codec = codec == Codec::zstd && head.type != FrameType::trailer ? Codec::zstd : Codec::raw;
    head.stored_bytes = static_cast<std::uint32_t>(stored.size());
    head.raw_bytes = static_cast<std::uint32_t>(body.size());
    head.check = frame_check(head);
    append(bytes, head);
    bytes.insert(bytes.end(), stored.begin(), stored.end());
  }

  void process(std::uint32_t number, std::uint32_t pid, std::uint32_t parent, ClockPair created) {
    Bytes body;
    append(body, ProcessFrame{pid, parent, 1, created});
    frame(head_of(FrameType::process, number), body);
  }

  template <Kind K, class... Values>
  void define(std::uint32_t process, std::uint64_t ticks, const Values&... values) {
    Bytes body(encoded_bound<K>(values...));
    body.resize(static_cast<std::size_t>(encode<K>(body.data(), 0, values...) - body.data()));
    FrameHeader head = head_of(FrameType::definitions, process);
    head.base_ticks = ticks;
    head.events = 1;
    frame(head, body);
  }

  void clock(ClockPair pair) {
    Bytes body;
    append(body, pair);
    frame(head_of(FrameType::clock, 0), body);
  }

  void process_end(std::uint32_t number, const ProcessEndFrame& end) {
    Bytes body;
    append(body, end);
    frame(head_of(FrameType::process_end, number), body);
  }

  void trailer(ClockPair closed) {
    Bytes body;
    TrailerFrame trailer{};
    trailer.closed = closed;
    append(body, trailer);
    frame(head_of(FrameType::trailer, 0), body);
  }

  static FrameHeader head_of(FrameType type, std::uint32_t process) {
    FrameHeader head{};
    head.type = type;
    head.process = process;
    return head;
  }

 private:
  void schema() {
    static constexpr const char* kShapes[] = {"enter", "leave", "point", "definition"};
    std::string text;
    for (const auto& row : kKinds) {
      text +=
          std::to_string(row.code) + " " + kShapes[static_cast<int>(row.shape)] + " " + std::string(row.name);
      if (!row.fields.empty()) text += " " + std::string(row.fields);
      text += "\n";
    }
    frame(head_of(FrameType::schema, 0), Bytes(text.begin(), text.end()));
  }

  Bytes compressed(const Bytes& body) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
    Bytes out(ZSTD_compressBound(body.size()));
    out.resize(ZSTD_compress2(context_.get(), out.data(), out.size(), body.data(), body.size()));
    return out;
  }

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
};

// The chunks of one thread.
class ThreadWriter {
 public:
  // A chunk is handed on when it has `chunk_bytes`.
  ThreadWriter(TraceWriter& file, std::uint32_t process, std::uint32_t stream,
               std::size_t chunk_bytes = 1 << 16)
      : file_(file), process_(process), stream_(stream), chunk_bytes_(chunk_bytes) {}

  // Records must come in order of time.
  template <Kind K, class... Values>
  void record(std::uint64_t ticks, const Values&... values) {
    if (body_.empty()) begin(ticks);
    constexpr Shape kShape = info(K).shape;
    add<K>(ticks, values...);
    if constexpr (kShape == Shape::enter) open_.push_back({K, ticks, coded<K>(values...)});
    if constexpr (kShape == Shape::leave) {
      if (!open_.empty()) open_.pop_back();
    }
    if (body_.size() >= chunk_bytes_) flush();
  }

  // A path, coded against the chunk's previous one.
  void path(std::uint64_t ticks, const std::string& path) {
    if (body_.empty()) begin(ticks);
    std::size_t shared = 0;
    while (shared < std::min(path.size(), path_.size()) && path[shared] == path_[shared]) ++shared;
    path_ = path;
    record<Kind::path>(ticks, shared, path.substr(shared));
  }

  // Hands the open chunk on.
  void flush() {
    if (body_.empty()) return;
    file_.frame(take_head(), body_);
    body_.clear();
  }

  // Loses the open chunk, as when the ring is full; the next one says so.
  void drop() {
    const FrameHeader head = take_head();
    lost_ += head.events;
    body_.clear();
  }

 private:
  struct Open {
    Kind kind;
    std::uint64_t start;
    std::vector<std::uint64_t> fields;
  };

  template <Kind K, class... Values>
  static std::vector<std::uint64_t> coded(const Values&... values) {
    std::vector<std::uint64_t> fields{static_cast<std::uint64_t>(values)...};
    if (K == Kind::sample) fields[0] = zigzag(static_cast<std::int64_t>(fields[0]));
    fields.resize(3);
    return fields;
  }

  template <Kind K, class... Values>
  void add(std::uint64_t ticks, const Values&... values) {
    const std::size_t at = body_.size();
    body_.resize(at + encoded_bound<K>(values...));
    const auto* end = encode<K>(body_.data() + at, ticks - last_, values...);
    body_.resize(static_cast<std::size_t>(end - body_.data()));
    last_ = ticks;
    ++events_;
  }

  void begin(std::uint64_t ticks) {
    base_ = last_ = ticks;
    path_.clear();
    for (const auto& open : open_)
      add<Kind::open>(ticks, static_cast<std::uint64_t>(open.kind), open.fields[0], open.fields[1],
                      open.fields[2], ticks - open.start);
    events_ = 0;
  }

  FrameHeader take_head() {
    FrameHeader head = TraceWriter::head_of(FrameType::chunk, process_);
    head.stream = stream_;
    head.sequence = ++sequence_;
    head.base_ticks = base_;
    head.lost_before = std::exchange(lost_, 0);
    head.events = static_cast<std::uint32_t>(std::exchange(events_, 0));
    return head;
  }

  TraceWriter& file_;
  std::uint32_t process_, stream_;
  std::size_t chunk_bytes_;
  std::uint64_t sequence_ = 0, base_ = 0, last_ = 0, lost_ = 0, events_ = 0;
  std::vector<Open> open_;
  Bytes body_;
  std::string path_;
};

}  // namespace lotus::bench
