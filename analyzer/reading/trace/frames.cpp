#include "reading/trace/frames.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "reading/trace/payload.hpp"

namespace lotus::analyzer {
namespace {

bool is_frame_header(const FrameHeader& header) {
  return header.magic == kFrameMagic && header.check == frame_check(header) &&
         header.raw_bytes <= kMaxRawFrame &&
         header.stored_bytes <= ZSTD_COMPRESSBOUND(std::size_t{kMaxRawFrame});
}

// Offsets in `block` where a whole, right frame header begins; the first one, or `bytes`.
std::size_t find_header(const unsigned char* block, std::size_t bytes, FrameHeader& header) {
  std::size_t at = 0;
  while (at + sizeof header <= bytes) {
    const void* hit = ::memmem(block + at, bytes - at, &kFrameMagic, sizeof kFrameMagic);
    if (hit == nullptr) return bytes;
    at = static_cast<std::size_t>(static_cast<const unsigned char*>(hit) - block);
    if (at + sizeof header > bytes) return bytes;
    std::memcpy(&header, block + at, sizeof header);
    if (is_frame_header(header)) return at;
    ++at;
  }
  return bytes;
}

}  // namespace

FrameCursor::FrameCursor(const Source& source, std::uint64_t begin)
    : source_(source), end_(source.size()), position_(begin) {}

FrameCursor::At FrameCursor::look(std::uint64_t offset, Frame& frame) const {
  if (offset >= end_) return At::end;
  if (offset + sizeof(FrameHeader) > end_) return At::overruns;
  if (source_.read(offset, &frame.header, sizeof frame.header) < sizeof frame.header) return At::overruns;
  if (!is_frame_header(frame.header)) return At::garbage;
  frame.offset = offset;
  return frame.end() <= end_ ? At::frame : At::overruns;
}

bool FrameCursor::next(Frame& frame) {
  const At at = look(position_, frame);
  if (at == At::end) return false;
  if (at != At::frame && !resync(at, frame)) return false;
  position_ = frame.end();
  last_ = frame;
  return true;
}

// Where bytes were taken out of a payload, the next frame begins inside of it. A payload that decompresses is
// whole. Frames of a sound file do not overlap: who would have more bytes searched than the file has was made
// to be read again and again.
std::uint64_t FrameCursor::search_begins() {
  if (last_.header.magic != kFrameMagic) return position_;  // there was none so far
  std::span<const std::uint8_t> body;
  if (last_.header.codec == Codec::zstd && PayloadReader(source_).read(last_, body)) return position_;
  if (again_ + last_.header.stored_bytes > end_) return position_;
  again_ += last_.header.stored_bytes;
  return last_.payload();
}

// Finds the next whole frame.
bool FrameCursor::resync(At reason, Frame& frame) {
  const std::uint64_t expected = position_;
  if (search(search_begins(), frame)) {
    const std::uint64_t from = std::min(expected, frame.offset);
    damage_.add({from, frame.offset - from, "no frame where one should begin"});
    return true;
  }
  if (reason == At::overruns)
    cut_off_ = expected;
  else
    damage_.add({expected, end_ - expected, "no frame where one should begin, nor behind it"});
  position_ = end_;
  return false;
}

bool FrameCursor::search(std::uint64_t from, Frame& frame) const {
  constexpr std::size_t kBlock = 1 << 16;
  std::vector<unsigned char> block(kBlock);
  while (from + sizeof(FrameHeader) <= end_) {
    const std::size_t have = source_.read(from, block.data(), std::min<std::uint64_t>(kBlock, end_ - from));
    if (have < sizeof(FrameHeader)) return false;
    const std::size_t at = find_header(block.data(), have, frame.header);
    frame.offset = from + at;
    if (at < have && frame.end() <= end_) return true;
    from += at < have ? at + 1 : have - sizeof(FrameHeader) + 1;
  }
  return false;
}

}  // namespace lotus::analyzer
