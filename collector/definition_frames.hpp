// Joins the definition records of many ring records into few frames.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <optional>
#include <vector>

#include "packer.hpp"

namespace lotus::collector {

// The body of a definitions frame: records with times relative to the previous record; the first one's is
// relative to base_ticks.
struct DefinitionBody {
  std::vector<std::uint8_t> bytes;
  std::uint64_t base_ticks = 0;
  std::uint32_t events = 0;
};

// Largest payload, in bytes. A body may be larger than this by one payload at most.
inline constexpr std::size_t kLargeBody = std::size_t{1} << 20;

class DefinitionJoiner {
 public:
  // Appends the whole definition records at the start of `payload`. Returns false if something else
  // followed them. Where they cannot be appended (time runs backwards, body too large), the body so far
  // is moved to `full` first.
  bool append(Bytes payload, std::uint64_t base_ticks, std::optional<DefinitionBody>& full);
  // The body so far; leaves an empty one.
  DefinitionBody take();

 private:
  DefinitionBody body_;
  std::uint64_t last_ticks_ = 0;
};

}  // namespace lotus::collector
