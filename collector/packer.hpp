// Compression of the collector's own frames, and checks of the payloads that traced processes compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;

namespace lotus::collector {

using Bytes = std::span<const std::uint8_t>;

// The bytes of a structure of the trace format, as they go to the file.
template <class Structure>
Bytes bytes_of(const Structure& structure) {
  return {reinterpret_cast<const std::uint8_t*>(&structure), sizeof structure};
}

class Packer {
 public:
  Packer();

  // One zstd frame of `raw`, level 3 with checksum. Valid until the next call. Throws std::runtime_error
  // if zstd fails (out of memory).
  Bytes pack(Bytes raw);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::vector<std::uint8_t> packed_;
};

// True if `stored` is exactly one zstd frame that does not contradict `raw_bytes`. Looks at frame and
// block headers only; the checksum is the reader's to verify.
bool is_zstd_frame(Bytes stored, std::uint32_t raw_bytes);

// The content of one zstd frame; empty if it is damaged or its size is not `raw_bytes`.
std::optional<std::vector<std::uint8_t>> unpack(Bytes stored, std::uint32_t raw_bytes);

}  // namespace lotus::collector
