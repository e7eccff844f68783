// Writes the chunks of one thread into a trace that is created without a traced program.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <lotus/codec.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reading/writer/trace_writer.hpp"

namespace lotus::analyzer {

class ThreadWriter {
 public:
  // A chunk is handed on when it has `chunk_bytes`. `file` outlives the writer.
  ThreadWriter(TraceWriter& file, std::uint32_t process, std::uint32_t stream,
               std::size_t chunk_bytes = 1 << 16)
      : file_(file), process_(process), stream_(stream), chunk_bytes_(chunk_bytes) {}

  // Records must come in order of time.
  template <Kind K, class... Values>
  void record(std::uint64_t ticks, const Values&... values) {
    if (body_.empty()) begin(ticks);
    constexpr Shape kShape = info(K).shape;
    add<K>(ticks, values...);
    if constexpr (kShape == Shape::enter) open_.push_back({K, ticks, coded_fields<K>(values...)});
    if constexpr (kShape == Shape::leave) {
      if (!open_.empty()) open_.pop_back();
    }
    if (body_.size() >= chunk_bytes_) flush();
  }

  // A path, coded as its difference to the chunk's previous path.
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

  // Drops the open chunk, as when the ring is full; the next one counts it as lost.
  void drop() {
    const FrameHeader head = take_head();
    lost_ += head.events;
    body_.clear();
  }

 private:
  struct Open {
    Kind kind;
    std::uint64_t start;
    std::array<std::uint64_t, kMaxSpanFields> fields;  // coded
  };

  template <Kind K, class... Values>
  static std::array<std::uint64_t, kMaxSpanFields> coded_fields(const Values&... values) {
    std::array<std::uint64_t, kMaxSpanFields> fields{static_cast<std::uint64_t>(values)...};
    for (std::size_t i = 0; i < kFieldsOf<K>.count; ++i) fields[i] = coded(kFieldsOf<K>.types[i], fields[i]);
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
    FrameHeader head = frame_header(FrameType::chunk, process_);
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

}  // namespace lotus::analyzer
