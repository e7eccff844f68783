#include "reading/writer/trace_writer.hpp"

#include <zstd.h>

#include <cstring>
#include <lotus/schema_text.hpp>
#include <stdexcept>
#include <string>

namespace lotus::analyzer {
namespace {

template <class T>
void append(Bytes& bytes, const T& value) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

}  // namespace

TraceWriter::TraceWriter(ClockPair created, ClockSource source, std::uint32_t tick_shift,
                         std::uint32_t session_pid)
    : context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::runtime_error("zstd: out of memory");
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
  header.version = kTraceVersion;
  header.header_bytes = sizeof header;
  header.session_pid = session_pid;
  header.clock_source = source;
  header.tick_shift = tick_shift;
  header.created = created;
  append(bytes, header);
  frame(frame_header(FrameType::schema, 0), bytes_of(kSchemaText));
}

TraceWriter::~TraceWriter() { ZSTD_freeCCtx(context_); }

// The trailer is never compressed: it is found by its size.
void TraceWriter::frame(FrameHeader head, std::span<const std::uint8_t> body) {
  const bool packed = codec == Codec::zstd && head.type != FrameType::trailer;
  const Bytes stored = packed ? compressed(body) : Bytes(body.begin(), body.end());
  head.codec = packed ? Codec::zstd : Codec::raw;
  head.stored_bytes = static_cast<std::uint32_t>(stored.size());
  head.raw_bytes = static_cast<std::uint32_t>(body.size());
  head.check = frame_check(head);
  append(bytes, head);
  bytes.insert(bytes.end(), stored.begin(), stored.end());
}

void TraceWriter::process(std::uint32_t number, std::uint32_t pid, std::uint32_t parent, ClockPair created) {
  frame(frame_header(FrameType::process, number), bytes_of(ProcessFrame{pid, parent, 1, created}));
}

void TraceWriter::clock(ClockPair pair) { frame(frame_header(FrameType::clock, 0), bytes_of(pair)); }

void TraceWriter::process_end(std::uint32_t number, const ProcessEndFrame& end) {
  frame(frame_header(FrameType::process_end, number), bytes_of(end));
}

void TraceWriter::trailer(ClockPair closed) {
  TrailerFrame trailer{};
  trailer.closed = closed;
  frame(frame_header(FrameType::trailer, 0), bytes_of(trailer));
}

Bytes TraceWriter::compressed(std::span<const std::uint8_t> body) {
  Bytes out(ZSTD_compressBound(body.size()));
  const std::size_t size = ZSTD_compress2(context_, out.data(), out.size(), body.data(), body.size());
  if (ZSTD_isError(size) != 0) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

}  // namespace lotus::analyzer
