// Makes names and paths from a trace safe to print: they may contain any bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lotus::analyzer {

// UTF-8 text without control characters: \n, \t, \r, \\ and \xNN (control characters, bytes that are no
// UTF-8) stand for what could break a line or drive a terminal.
std::string escaped(std::string_view bytes);

// The same as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view bytes);

// A JSON value as commands print it, indented and with a line end; the same holds of its strings.
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace lotus::analyzer
