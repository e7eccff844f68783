// Payloads of frames, decompressed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reading/trace/frame.hpp"
#include "reading/trace/source.hpp"

struct ZSTD_DCtx_s;

namespace lotus::analyzer {

class PayloadReader {
 public:
  explicit PayloadReader(const Source& source);
  PayloadReader(const PayloadReader&) = delete;
  PayloadReader& operator=(const PayloadReader&) = delete;
  ~PayloadReader();

  // The body of `frame`, valid until the next call. False: it is damaged, and problem() says how.
  // Never writes more than kMaxRawFrame bytes, whatever the file claims.
  bool read(const Frame& frame, std::span<const std::uint8_t>& body);
  const std::string& problem() const { return problem_; }
  // What was read last, as it lies in the file.
  std::span<const std::uint8_t> stored() const { return {stored_.data(), stored_bytes_}; }

 private:
  bool fail(std::string problem);

  const Source& source_;
  ZSTD_DCtx_s* context_;
  std::vector<std::uint8_t> stored_;
  std::size_t stored_bytes_ = 0;
  std::vector<std::uint8_t> raw_;
  std::string problem_;
};

}  // namespace lotus::analyzer
