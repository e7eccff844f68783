#include "reading/trace/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::uint32_t kMaxTickShift = 20;         // a tick of a millisecond would be useless
constexpr std::uint32_t kMaxHeaderBytes = 1 << 20;  // room for later versions' fields

void check_magic(const std::string& name, const FileHeader& header, std::size_t have) {
  const std::size_t compare = std::min(have, sizeof header.magic);
  if (std::memcmp(header.magic, kTraceMagic, compare) == 0) return;
  if (have >= 5 && std::memcmp(header.magic, kTraceMagic, 5) == 0)
    throw Unusable(fmt::format(
        "{}: its first 8 bytes were changed, as a transfer in text mode does; copy the trace again as binary",
        name));
  throw Unusable(fmt::format(
      "{}: is not a Lotus trace (its first bytes are not a trace's); name a *.lotus file, or, if it was "
      "one, try `lotus-analyze recover`",
      name));
}

void check_fields(const std::string& name, const FileHeader& header, std::uint64_t size) {
  if (header.version > kTraceVersion)
    throw Unusable(
        fmt::format("{}: is of trace version {}, this lotus-analyze reads versions up to {}; use a newer one",
                    name, header.version, kTraceVersion));
  const bool sound =
      header.version > 0 && header.header_bytes >= sizeof header && header.header_bytes <= kMaxHeaderBytes &&
      header.tick_shift <= kMaxTickShift &&
      (header.clock_source == ClockSource::tsc || header.clock_source == ClockSource::monotonic);
  if (!sound)
    throw Unusable(fmt::format(
        "{}: its file header (bytes 0 to 63) is damaged; `lotus-analyze recover` makes it anew", name));
  if (header.header_bytes > size)
    throw Unusable(
        fmt::format("{}: is cut off inside the file header (it has {} of {} bytes); nothing was recorded",
                    name, size, header.header_bytes));
}

}  // namespace

FileHeader read_file_header(const Source& source) {
  const std::string name = escaped(source.path());
  FileHeader header{};
  const std::size_t have = source.read(0, &header, sizeof header);
  if (have == 0)
    throw Unusable(
        fmt::format("{}: is empty; its collector has not written yet or could not: see its messages, or run "
                    "`lotus-collector --drain`",
                    name));
  check_magic(name, header, have);
  if (have < sizeof header)
    throw Unusable(
        fmt::format("{}: is cut off inside the file header (it has {} of {} bytes); nothing was recorded",
                    name, have, sizeof header));
  check_fields(name, header, source.size());
  return header;
}

}  // namespace lotus::analyzer
