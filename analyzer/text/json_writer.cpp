#include "text/json_writer.hpp"

#include <algorithm>
#include <string>

#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

}  // namespace

// RapidJSON's escapes have capital digits, and bytes that are no UTF-8 would stay in its strings.
void JsonWriter::text(std::string_view text) {
  if (is_plain(text)) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return;
  }
  const std::string json = json_string(text);
  writer_.RawValue(json.data(), json.size(), rapidjson::kStringType);
}

}  // namespace lotus::analyzer
