// Numbers for people: three significant digits and a unit.
#pragma once

#include <cstdint>
#include <string>

namespace lotus::analyzer {

inline constexpr double kNsPerUs = 1e3, kNsPerMs = 1e6, kNsPerS = 1e9;

// "850 ns", "61.2 µs", "4.76 ms", "12.3 s", "7.5 min", "2.1 h". Negative ones keep their sign.
std::string human_time(double ns);
// "812 B", "4.1 KiB", "2.3 GiB".
std::string human_bytes(double bytes);
// "1,281,167".
std::string human_count(std::uint64_t count);
// "41.2 %", "0.03 %", "100 %".
std::string human_percent(double percent);
// A rate: "9.42", "94.2", "942".
std::string human_rate(double rate);
// A bar of `columns` columns at 100 %, in eighths of a column.
std::string bar(double percent, std::size_t columns);

}  // namespace lotus::analyzer
