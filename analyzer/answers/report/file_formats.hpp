// Formats of files, and the functions that open, inflate and parse them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "answers/stacks/frame_table.hpp"

namespace lotus::analyzer {

inline constexpr std::size_t kFileFormats = 8;

// The format of a file by the end of its name; none: not known.
std::optional<std::size_t> format_of(std::string_view path);
// "a JSON file"
const char* name_of_format(std::size_t format);
// The format that this function opens, inflates or parses, whoever calls it; none: it does something else.
// Functions that only read what was asked for, as a member of a ZIP archive, do something else.
std::optional<std::size_t> format_read_by(const NamedFrame& function);

}  // namespace lotus::analyzer
