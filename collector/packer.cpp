#include "packer.hpp"

#include <zstd.h>

#include <stdexcept>
#include <string>

namespace lotus::collector {
namespace {
constexpr int kLevel = 3;
}

void Packer::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

Packer::Packer() : context_(ZSTD_createCCtx()) {
  if (!context_) throw std::runtime_error("zstd: out of memory");
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

Bytes Packer::pack(Bytes raw) {
  packed_.resize(ZSTD_compressBound(raw.size()));
  const std::size_t size =
      ZSTD_compress2(context_.get(), packed_.data(), packed_.size(), raw.data(), raw.size());
  if (ZSTD_isError(size) != 0) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(size));
  return {packed_.data(), size};
}

bool is_zstd_frame(Bytes stored, std::uint32_t raw_bytes) {
  const unsigned long long content = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (content == ZSTD_CONTENTSIZE_ERROR) return false;
  if (content != ZSTD_CONTENTSIZE_UNKNOWN && content != raw_bytes) return false;
  return ZSTD_findFrameCompressedSize(stored.data(), stored.size()) == stored.size();
}

std::optional<std::vector<std::uint8_t>> unpack(Bytes stored, std::uint32_t raw_bytes) {
  if (!is_zstd_frame(stored, raw_bytes)) return std::nullopt;
  std::vector<std::uint8_t> raw(raw_bytes);
  const std::size_t size = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != raw_bytes) return std::nullopt;
  return raw;
}

}  // namespace lotus::collector
