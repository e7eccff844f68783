#include "text/escape.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/utf8.hpp"

namespace lotus::analyzer {
namespace {

// C0 and C1 controls, line separators and the marks that turn the writing direction of a terminal.
bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f || code == 0xfeff;
}

void append_escape(std::string& out, std::string_view bytes) {
  const char byte = bytes[0];
  if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\t') {
    out += "\\t";
  } else if (byte == '\r') {
    out += "\\r";
  } else {
    for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

}  // namespace

std::string escaped(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Character character = first_character(bytes);
    const std::string_view text = bytes.substr(0, character.bytes);
    if (!character.valid || is_control(character.code))
      append_escape(out, text);
    else if (text == "\\")
      out += "\\\\";
    else
      out += text;
    bytes.remove_prefix(character.bytes);
  }
  return out;
}

std::string json_string(std::string_view bytes) {
  return nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lotus::analyzer
