#include "reading/trace/frame_writer.hpp"

#include <zstd.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace lotus::analyzer {
namespace {

constexpr int kLevel = 3;
constexpr std::size_t kIndexPerFrame = kMaxRawFrame / sizeof(IndexEntry);

}  // namespace

FrameWriter::FrameWriter(Output& out, FileHeader header, const FileSchema& schema)
    : out_(out), context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  header.header_bytes = sizeof header;
  put(&header, sizeof header);
  const std::string text = schema.text();
  pack(frame_header(FrameType::schema, 0), bytes_of(std::string_view(text)));
}

FrameWriter::~FrameWriter() { ZSTD_freeCCtx(context_); }

void FrameWriter::put(const void* bytes, std::size_t size) {
  out_.write({static_cast<const char*>(bytes), size});
  position_ += size;
}

void FrameWriter::copy(FrameHeader header, Bytes stored) {
  header.magic = kFrameMagic;
  header.check = frame_check(header);
  if (header.type == FrameType::chunk) events_ += header.events;
  index_.push_back(
      {position_, header.base_ticks, header.process, header.stream, header.events, header.type, {}});
  put(&header, sizeof header);
  put(stored.data(), stored.size());
}

void FrameWriter::pack(FrameHeader header, Bytes body) {
  packed_.resize(ZSTD_compressBound(body.size()));
  const std::size_t size = ZSTD_compress2(context_, packed_.data(), packed_.size(), body.data(), body.size());
  if (ZSTD_isError(size) != 0) throw std::runtime_error(ZSTD_getErrorName(size));
  header.codec = Codec::zstd;
  header.stored_bytes = static_cast<std::uint32_t>(size);
  header.raw_bytes = static_cast<std::uint32_t>(body.size());
  copy(header, {packed_.data(), size});
}

void FrameWriter::raw(FrameHeader header, Bytes body) {
  header.codec = Codec::raw;
  header.stored_bytes = header.raw_bytes = static_cast<std::uint32_t>(body.size());
  copy(header, body);
}

void FrameWriter::finish(TrailerFrame trailer) {
  trailer.index_offset = position_;
  trailer.index_frames = 0;
  trailer.events = events_;
  const std::vector<IndexEntry> entries = index_;
  for (std::size_t at = 0; at < entries.size(); at += kIndexPerFrame) {
    const std::size_t count = std::min(kIndexPerFrame, entries.size() - at);
    pack(frame_header(FrameType::index, 0),
         {reinterpret_cast<const std::uint8_t*>(entries.data() + at), count * sizeof(IndexEntry)});
    ++trailer.index_frames;
  }
  raw(frame_header(FrameType::trailer, 0), bytes_of(trailer));
}

}  // namespace lotus::analyzer
