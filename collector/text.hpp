// Text for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lotus::collector {

// `text` with control characters escaped as \xNN: file names must not be able to steer a terminal.
std::string printable(std::string_view text);

// The reason of an errno value, as in "No space left on device".
std::string reason(int error);

// 1536 -> "1.5 kB", steps of 1000.
std::string human_bytes(std::uint64_t bytes);

// "1 process", "2 processes".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

}  // namespace lotus::collector
