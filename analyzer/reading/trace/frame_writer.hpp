// Writes a trace file frame by frame; used to copy traces.
#pragma once

#include <cstdint>
#include <lotus/trace.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "reading/trace/schema.hpp"
#include "text/output.hpp"

struct ZSTD_CCtx_s;

namespace lotus::analyzer {

class FrameWriter {
 public:
  using Bytes = std::span<const std::uint8_t>;

  // Writes the file header, without fields of later versions, and the schema. `out` outlives the writer.
  FrameWriter(Output& out, FileHeader header, const FileSchema& schema);
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;
  ~FrameWriter();

  // A frame whose payload has the codec and sizes in `header`. The check is computed anew.
  void copy(FrameHeader header, Bytes stored);
  // A frame of `body`, compressed; codec and sizes of `header` are filled in.
  void pack(FrameHeader header, Bytes body);
  // The same, not compressed.
  void raw(FrameHeader header, Bytes body);

  // Index and trailer, whose place and number of index frames and events are filled in. Nothing may follow.
  void finish(TrailerFrame trailer);

  // Of the chunks so far.
  std::uint64_t events() const { return events_; }
  // Bytes written so far.
  std::uint64_t position() const { return position_; }

 private:
  void put(const void* bytes, std::size_t size);

  Output& out_;
  ZSTD_CCtx_s* context_;
  std::uint64_t position_ = 0;
  std::uint64_t events_ = 0;
  std::vector<IndexEntry> index_;
  std::vector<std::uint8_t> packed_;
};

template <class Structure>
FrameWriter::Bytes bytes_of(const Structure& structure) {
  return {reinterpret_cast<const std::uint8_t*>(&structure), sizeof structure};
}
inline FrameWriter::Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace lotus::analyzer
