// The text of a schema frame: for each record kind a line "code shape name field:type …\n".
#pragma once

#include <lotus/events.hpp>

namespace lotus {

inline constexpr std::string_view kShapeNames[] = {"enter", "leave", "point", "definition"};  // by Shape

// Hands the line of a row to `add`, a few characters at a time.
template <class Add>
constexpr void put_schema_row(std::uint8_t code, Shape shape, std::string_view name, const FieldList& fields,
                              Add add) {
  const char digits[] = {static_cast<char>('0' + code / 100), static_cast<char>('0' + code / 10 % 10),
                         static_cast<char>('0' + code % 10)};
  const std::size_t zeros = code < 10 ? 2 : code < 100 ? 1 : 0;
  add(std::string_view(digits + zeros, sizeof digits - zeros));
  add(std::string_view(" "));
  add(kShapeNames[static_cast<std::size_t>(shape)]);
  add(std::string_view(" "));
  add(name);
  for (std::size_t i = 0; i < fields.count; ++i) {
    add(std::string_view(" "));
    add(fields.names[i]);
    add(std::string_view(":"));
    add(std::string_view(&fields.types[i], 1));
  }
  add(std::string_view("\n"));
}

namespace detail {
template <class Add>
constexpr void put_schema(Add add) {
  for (const auto& row : kKinds) put_schema_row(row.code, row.shape, row.name, parse_fields(row.fields), add);
}

constexpr std::size_t schema_bytes() {
  std::size_t bytes = 0;
  put_schema([&](std::string_view part) { bytes += part.size(); });
  return bytes;
}

struct SchemaText {
  char text[schema_bytes()]{};
};

constexpr SchemaText make_schema_text() {
  SchemaText made;
  std::size_t used = 0;
  put_schema([&](std::string_view part) {
    for (const char c : part) made.text[used++] = c;
  });
  return made;
}

inline constexpr SchemaText kSchemaText = make_schema_text();
}  // namespace detail

// The schema text of the rows of events.hpp.
inline constexpr std::string_view kSchemaText{detail::kSchemaText.text, sizeof detail::kSchemaText.text};

}  // namespace lotus
