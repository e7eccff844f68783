// Records as bytes, both ways. Allocates nothing; used inside the traced process and by all readers.
//
//   record := code:byte  dt:varint  field*          (fields in the order and types of the row)
//   varint := LEB128, at most 10 bytes
//
// `dt` is the time in ticks since the previous record of the chunk (the first: since the chunk's base).
#pragma once

#include <cstring>
#include <lotus/events.hpp>
#include <type_traits>
#include <utility>

namespace lotus {

inline constexpr std::size_t kMaxVarint = 10;
inline constexpr std::size_t kMaxStringInRecord = 4096;  // writers cut longer strings

constexpr std::uint64_t zigzag(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t v) {
  return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}

// Converts a number to the form in its varint, and back. `type`: of its field, 'u' or 'z'.
constexpr std::uint64_t coded(char type, std::uint64_t number) {
  return type == 'z' ? zigzag(static_cast<std::int64_t>(number)) : number;
}
constexpr std::uint64_t decoded(char type, std::uint64_t varint) {
  return type == 'z' ? static_cast<std::uint64_t>(unzigzag(varint)) : varint;
}

inline std::uint8_t* put_varint(std::uint8_t* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

// Returns the byte after the varint, or nullptr if it is cut off or longer than kMaxVarint.
inline const std::uint8_t* get_varint(const std::uint8_t* in, const std::uint8_t* end, std::uint64_t& value) {
  std::uint64_t result = 0;
  for (unsigned shift = 0; in < end && shift < 70; shift += 7) {
    const std::uint8_t byte = *in++;
    result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = result;
      return in;
    }
  }
  return nullptr;
}

namespace detail {
template <char Type, class T>
std::uint8_t* put_field(std::uint8_t* out, const T& value) {
  if constexpr (Type == 's') {
    std::string_view text(value);
    if (text.size() > kMaxStringInRecord) text = {text.data(), kMaxStringInRecord};
    out = put_varint(out, text.size());
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
  } else {
    return put_varint(out, coded(Type, static_cast<std::uint64_t>(value)));
  }
}

inline std::size_t field_bound(std::string_view text) {
  return kMaxVarint + (text.size() < kMaxStringInRecord ? text.size() : kMaxStringInRecord);
}
template <class T>
requires std::is_integral_v<T> || std::is_enum_v<T>
constexpr std::size_t field_bound(T) { return kMaxVarint; }
}  // namespace detail

// The fields of a kind's row.
template <Kind K>
inline constexpr FieldList kFieldsOf = parse_fields(info(K).fields);

// Upper bound of bytes that encode<K>() writes for these values.
template <Kind K, class... Values>
std::size_t encoded_bound(const Values&... values) {
  return 1 + kMaxVarint + (std::size_t{0} + ... + detail::field_bound(values));
}

// Appends one record at `out` (room for encoded_bound() bytes is the caller's duty); returns the new end.
// The values must be those of the row, in its order.
template <Kind K, class... Values>
std::uint8_t* encode(std::uint8_t* out, std::uint64_t dt, const Values&... values) {
  static_assert(sizeof...(Values) == kFieldsOf<K>.count, "give every field of the row, in its order");
  *out++ = static_cast<std::uint8_t>(K);
  out = put_varint(out, dt);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((out = detail::put_field<kFieldsOf<K>.types[I]>(out, values)), ...);
  }
  (std::make_index_sequence<sizeof...(Values)>{});
  return out;
}

// Which kinds exist and how their fields are laid out, for a decoder. The built-in one is schema();
// a trace file's own is read from its schema frame.
struct Schema {
  struct Row {
    bool known = false;
    Shape shape = Shape::point;
    std::uint8_t count = 0;
    char types[kMaxFields] = {};
  };
  Row rows[256];
};

constexpr Schema make_schema() {
  Schema schema;
  for (const auto& row : kKinds) {
    const FieldList fields = parse_fields(row.fields);
    auto& target = schema.rows[row.code];
    target.known = true;
    target.shape = row.shape;
    target.count = static_cast<std::uint8_t>(fields.count);
    for (std::size_t i = 0; i < fields.count; ++i) target.types[i] = fields.types[i];
  }
  return schema;
}
inline constexpr Schema kSchema = make_schema();

// Its fields are read by their names, see field.hpp.
struct Record {
  Kind kind{};
  Shape shape{};
  std::uint8_t count = 0;          // fields decoded
  std::uint64_t dt = 0;            // ticks since the previous record
  std::uint64_t u[kMaxFields]{};   // numbers; 'z' fields already unzigzagged (cast to int64_t)
  std::string_view s[kMaxFields];  // strings; views into the input bytes

  std::int64_t z(std::size_t i) const { return static_cast<std::int64_t>(u[i]); }
};

// Decodes one record at `in`. Returns the byte after it, or nullptr if the bytes are not a whole record (cut
// off, unknown code, string past the end); `record` is then unspecified.
inline const std::uint8_t* decode(const std::uint8_t* in, const std::uint8_t* end, Record& record,
                                  const Schema& schema = kSchema) {
  if (in >= end) return nullptr;
  const auto& row = schema.rows[*in];
  if (!row.known) return nullptr;
  record.kind = static_cast<Kind>(*in++);
  record.shape = row.shape;
  record.count = row.count;
  in = get_varint(in, end, record.dt);
  for (std::size_t i = 0; in != nullptr && i < row.count; ++i) {
    in = get_varint(in, end, record.u[i]);
    if (in == nullptr) break;
    record.u[i] = decoded(row.types[i], record.u[i]);
    if (row.types[i] == 's') {
      const std::uint64_t length = record.u[i];
      if (length > static_cast<std::uint64_t>(end - in)) return nullptr;
      record.s[i] = {reinterpret_cast<const char*>(in), static_cast<std::size_t>(length)};
      in += length;
    }
  }
  return in;
}

}  // namespace lotus
