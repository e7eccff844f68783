#include "reading/trace/payload.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <utility>

namespace lotus::analyzer {
namespace {

// A limit, so that a small crafted file cannot keep its reader busy for long. In the largest chunks,
// identical records are compressed to a thousandth; real ones to a tenth.
constexpr std::uint32_t kMostExpansion = 1000;
constexpr std::uint32_t kAlwaysAllowed = 1u << 16;

void ensure(std::vector<std::uint8_t>& buffer, std::size_t bytes) {
  if (buffer.size() < bytes) buffer.resize(bytes);
}

}  // namespace

PayloadReader::PayloadReader(const Source& source) : source_(source), context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}

PayloadReader::~PayloadReader() { ZSTD_freeDCtx(context_); }

bool PayloadReader::fail(std::string problem) {
  problem_ = std::move(problem);
  return false;
}

bool PayloadReader::read(const Frame& frame, std::span<const std::uint8_t>& body) {
  const FrameHeader& header = frame.header;
  ensure(stored_, header.stored_bytes);
  stored_bytes_ = header.stored_bytes;
  if (source_.read(frame.payload(), stored_.data(), header.stored_bytes) < header.stored_bytes)
    return fail("the file became shorter while it was read");
  if (header.codec == Codec::raw) {
    body = {stored_.data(), header.stored_bytes};
    return header.raw_bytes == header.stored_bytes || fail("its two sizes disagree");
  }
  if (header.codec != Codec::zstd)
    return fail(fmt::format("its codec {} is unknown", static_cast<unsigned>(header.codec)));
  if (header.raw_bytes > kAlwaysAllowed + std::uint64_t{kMostExpansion} * header.stored_bytes)
    return fail(fmt::format("{} bytes would become {}: no trace is compressed like that", header.stored_bytes,
                            header.raw_bytes));
  ensure(raw_, header.raw_bytes);
  const std::size_t got =
      ZSTD_decompressDCtx(context_, raw_.data(), header.raw_bytes, stored_.data(), header.stored_bytes);
  if (ZSTD_isError(got) != 0) return fail(fmt::format("it does not decompress ({})", ZSTD_getErrorName(got)));
  body = {raw_.data(), got};
  return got == header.raw_bytes || fail("it has another size than its header says");
}

}  // namespace lotus::analyzer
