#include "reading/trace/schema.hpp"

#include <algorithm>
#include <charconv>
#include <lotus/schema_text.hpp>

namespace lotus::analyzer {
namespace {

std::string_view next_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

bool starts_with_ours(const FieldList& theirs, const FieldList& ours) {
  const std::size_t common = std::min(theirs.count, ours.count);
  for (std::size_t i = 0; i < common; ++i)
    if (theirs.types[i] != ours.types[i] || theirs.names[i] != ours.names[i]) return false;
  return true;
}

const KindInfo* built_in(std::uint8_t code) {
  for (const auto& row : kKinds)
    if (row.code == code) return &row;
  return nullptr;
}

}  // namespace

FileSchema::FileSchema() {
  for (const auto& row : kKinds) set_row(row.code, row.shape, row.name, parse_fields(row.fields));
}

void FileSchema::set_row(std::uint8_t code, Shape shape, std::string_view name, const FieldList& fields) {
  auto& row = layout_.rows[code];
  if (!row.known) kinds_.push_back(static_cast<Kind>(code));
  row = {true, shape, static_cast<std::uint8_t>(fields.count), {}};
  std::copy_n(fields.types, fields.count, row.types);
  names_[code] = name;
  fields_[code].assign(fields.names, fields.names + fields.count);
  const KindInfo* ours = built_in(code);
  const bool same = ours != nullptr && ours->name == name && ours->shape == shape;
  const FieldList our_fields = same ? parse_fields(ours->fields) : FieldList{};
  understood_[code] = same && starts_with_ours(fields, our_fields);
  exact_[code] = understood_[code] && fields.count == our_fields.count;
}

bool FileSchema::parse(std::string_view text) {
  const FileSchema before = *this;
  layout_ = {};
  kinds_.clear();
  understood_.reset();
  exact_.reset();
  bool any = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    any = parse_row(line) || any;
  }
  if (!any) *this = before;
  return any;
}

bool FileSchema::parse_row(std::string_view line) {
  const std::string_view number = next_word(line);
  const std::string_view shape = next_word(line);
  const std::string_view name = next_word(line);
  unsigned code = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), code);
  const bool whole = error == std::errc() && stop == number.data() + number.size();
  const auto* known_shape = std::find(std::begin(kShapeNames), std::end(kShapeNames), shape);
  const FieldList fields = parse_fields(line);
  if (!whole || code == 0 || code > 255 || known_shape == std::end(kShapeNames) || name.empty() ||
      !fields.valid)
    return false;
  set_row(static_cast<std::uint8_t>(code), static_cast<Shape>(known_shape - std::begin(kShapeNames)), name,
          fields);
  return true;
}

const Kind* FileSchema::find(std::string_view name) const {
  const auto hit =
      std::find_if(kinds_.begin(), kinds_.end(), [&](Kind kind) { return this->name(kind) == name; });
  return hit == kinds_.end() ? nullptr : &*hit;
}

std::string FileSchema::text() const {
  std::string out;
  for (const Kind kind : kinds_) {
    const auto code = static_cast<std::uint8_t>(kind);
    const auto& row = layout_.rows[code];
    FieldList fields;
    fields.count = row.count;
    std::copy_n(row.types, row.count, fields.types);
    std::copy(fields_[code].begin(), fields_[code].end(), fields.names);
    put_schema_row(code, row.shape, names_[code], fields, [&](std::string_view part) { out += part; });
  }
  return out;
}

const std::uint8_t* decode_known(const std::uint8_t* in, const std::uint8_t* end, Record& record,
                                 const FileSchema& schema) {
  in = decode(in, end, record, schema.layout());
  if (in == nullptr) return nullptr;
  for (std::size_t i = record.count; i < kMaxFields; ++i) {
    record.u[i] = 0;
    record.s[i] = {};
  }
  return in;
}

}  // namespace lotus::analyzer
