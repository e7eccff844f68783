// The record kinds of the file being read, which may be of a later minor revision than this program.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <lotus/codec.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lotus::analyzer {

class FileSchema {
 public:
  // The built-in table.
  FileSchema();

  // Reads the table from the text of a schema frame. False: no line of it is a row.
  bool parse(std::string_view text);
  bool parse(std::span<const std::uint8_t> body) {
    return parse(std::string_view(reinterpret_cast<const char*>(body.data()), body.size()));
  }

  const Schema& layout() const { return layout_; }
  // The record kind is the one that this program knows: same name and shape, and its first fields are ours.
  bool understood(Kind kind) const { return understood_[static_cast<std::uint8_t>(kind)]; }
  // Its fields are exactly those of this program's row, so the specialised decoder may be used.
  bool exact(Kind kind) const { return exact_[static_cast<std::uint8_t>(kind)]; }
  const std::string& name(Kind kind) const { return names_[static_cast<std::uint8_t>(kind)]; }
  const std::vector<std::string>& fields(Kind kind) const { return fields_[static_cast<std::uint8_t>(kind)]; }
  // A kind of the given name, or nullptr.
  const Kind* find(std::string_view name) const;
  // As text, one row per line, as in the schema frame.
  std::string text() const;

 private:
  bool parse_row(std::string_view line);
  void set_row(std::uint8_t code, Shape shape, std::string_view name, const FieldList& fields);

  Schema layout_{};
  std::bitset<256> understood_;
  std::bitset<256> exact_;
  std::array<std::string, 256> names_;
  std::array<std::vector<std::string>, 256> fields_;
  std::vector<Kind> kinds_;
};

// Decodes one record by the file's table; fields that the file does not have read as 0 and empty.
// As lotus::decode(): the byte after it, or nullptr.
const std::uint8_t* decode_known(const std::uint8_t* in, const std::uint8_t* end, Record& record,
                                 const FileSchema& schema);

}  // namespace lotus::analyzer
