// Fields by their names: field<Kind::loader, "workers">(record). A name that is not in the kind's row does
// not compile. The caller must have checked that the record is of that kind.
#pragma once

#include <lotus/codec.hpp>

namespace lotus {

// A string literal as a template argument.
template <std::size_t Size>
struct FieldName {
  constexpr FieldName(const char (&literal)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, Size - 1}; }

  char text[Size]{};
};

namespace detail {
template <Kind K, FieldName Name>
constexpr std::size_t find_field() {
  std::size_t place = 0;
  while (place < kFieldsOf<K>.count && kFieldsOf<K>.names[place] != Name.view()) ++place;
  return place;
}
}  // namespace detail

// The field's position in its row.
template <Kind K, FieldName Name>
inline constexpr std::size_t kPlaceOf = [] {
  constexpr std::size_t kPlace = detail::find_field<K, Name>();
  static_assert(kPlace < kFieldsOf<K>.count, "the row of this kind has no field of this name");
  return kPlace;
}();

template <Kind K, FieldName Name>
inline constexpr char kTypeOf = kFieldsOf<K>.types[kPlaceOf<K, Name>];

// A field from the decoded numbers of a row: std::uint64_t, or std::int64_t for a field of type z.
template <Kind K, FieldName Name>
constexpr auto field(const std::uint64_t* numbers) {
  static_assert(kTypeOf<K, Name> != 's', "this field is a string");
  if constexpr (kTypeOf<K, Name> == 'z')
    return static_cast<std::int64_t>(numbers[kPlaceOf<K, Name>]);
  else
    return numbers[kPlaceOf<K, Name>];
}

// The same, or std::string_view into the record's bytes for a field of type s.
template <Kind K, FieldName Name>
constexpr auto field(const Record& record) {
  if constexpr (kTypeOf<K, Name> == 's')
    return record.s[kPlaceOf<K, Name>];
  else
    return field<K, Name>(record.u);
}

// For records of one of several kinds that all have the field at the same position.
template <FieldName Name, Kind First, Kind... Others, class Source>
constexpr auto common_field(const Source& source) {
  static_assert(((kPlaceOf<First, Name> == kPlaceOf<Others, Name>)&&...));
  static_assert(((kTypeOf<First, Name> == kTypeOf<Others, Name>)&&...));
  return field<First, Name>(source);
}

}  // namespace lotus
