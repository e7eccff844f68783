#include "call_frames.hpp"

#include <cstring>
#include <vector>

#include "stacks/dwarf_reader.hpp"

namespace lotus::collector {
namespace {

constexpr std::uint64_t kMaxEntryBytes = 1u << 16;
constexpr std::size_t kMaxRemembered = 32;  // rows

// Pointers' encodings (DW_EH_PE_…): a format and what is added.
constexpr std::uint8_t kFormat = 0x0f, kOmitted = 0xff, kAligned = 0x50;

// Reads over a pointer; its value where `value` is given, without what is to be added.
bool read_pointer(DwarfReader& reader, std::uint8_t encoding, std::uint64_t* value = nullptr) {
  std::uint64_t number = 0;
  if (encoding == kOmitted || encoding == kAligned) return false;
  switch (encoding & kFormat) {
    case 0x01:
      number = reader.unsigned_number();
      break;
    case 0x09:
      number = static_cast<std::uint64_t>(reader.signed_number());
      break;
    case 0x02:
    case 0x0a:
      number = reader.fixed<std::uint16_t>();
      break;
    case 0x03:
    case 0x0b:
      number = reader.fixed<std::uint32_t>();
      break;
    case 0x00:
    case 0x04:
    case 0x0c:
      number = reader.fixed<std::uint64_t>();
      break;
    default:
      return false;
  }
  if (value != nullptr) *value = number;
  return reader.whole();
}

// What many functions have in common.
struct CommonEntry {
  std::uint64_t code_factor = 0;
  std::int64_t data_factor = 0;
  std::uint64_t return_address = 0;
  std::uint8_t encoding = 0;  // of the functions' addresses
  bool has_sizes = false;     // of augmentations
  std::span<const std::uint8_t> instructions;
};

// An entry without its length field; empty if it is damaged.
std::span<const std::uint8_t> entry_at(const ElfFile& file, std::uint64_t place, std::uint64_t& read) {
  DwarfReader reader(file.at(place, sizeof(std::uint32_t)));
  const auto bytes = reader.fixed<std::uint32_t>();
  if (!reader.whole() || bytes > kMaxEntryBytes) return {};
  read += bytes;
  return file.at(place + sizeof bytes, bytes);
}

bool read_augmentation(DwarfReader& reader, std::string_view letters, CommonEntry& entry) {
  if (letters.empty()) return true;
  if (letters.front() != 'z') return false;
  entry.has_sizes = true;
  DwarfReader data(reader.block(reader.unsigned_number()));
  for (const char letter : letters.substr(1)) {
    if (letter == 'R') {
      entry.encoding = data.fixed<std::uint8_t>();
    } else if (letter == 'L') {
      data.fixed<std::uint8_t>();
    } else if (letter == 'P') {
      if (!read_pointer(data, data.fixed<std::uint8_t>())) return false;
    } else if (letter != 'S' && letter != 'B' &&
               letter != 'G') {  // a signal's frame, aarch64's keys and tags
      return false;
    }
  }
  return data.whole();
}

std::optional<CommonEntry> common_entry(std::span<const std::uint8_t> bytes) {
  DwarfReader reader(bytes);
  const auto id = reader.fixed<std::uint32_t>();
  const auto version = reader.fixed<std::uint8_t>();
  if (id != 0 || (version != 1 && version != 3)) return std::nullopt;
  CommonEntry entry;
  const std::string_view letters = reader.text();
  entry.code_factor = reader.unsigned_number();
  entry.data_factor = reader.signed_number();
  entry.return_address = version == 1 ? reader.fixed<std::uint8_t>() : reader.unsigned_number();
  if (!read_augmentation(reader, letters, entry) || !reader.whole()) return std::nullopt;
  if (entry.return_address >= kMaxRegisters) return std::nullopt;
  entry.instructions = reader.rest();
  return entry;
}

// Runs the instructions that make the rows of a function, up to the one of an address.
class Program {
 public:
  Program(const CommonEntry& entry, std::uint64_t begin, std::uint64_t address)
      : entry_(entry), left_(address - begin) {}

  // False: an instruction is not known, or damaged.
  bool run(std::span<const std::uint8_t> instructions) {
    DwarfReader reader(instructions);
    while (!behind_ && reader.whole() && !reader.at_end())
      if (!step(reader)) return false;
    return reader.whole();
  }

  bool run_common() {
    const std::uint64_t left = left_;
    left_ = UINT64_MAX;
    const bool known = run(entry_.instructions);
    left_ = left;
    initial_ = row_;
    return known;
  }

  const CallFrameRow& row() const { return row_; }

 private:
  // Registers that nobody needs, as those of vectors, have no place in a row.
  void set(std::uint64_t number, const CallFrameRule& rule) {
    if (number < kMaxRegisters) row_.registers[number] = rule;
  }
  void restore(std::uint64_t number) {
    if (number < kMaxRegisters) row_.registers[number] = initial_.registers[number];
  }
  std::int64_t scaled(std::uint64_t offset) const {
    return static_cast<std::int64_t>(offset * static_cast<std::uint64_t>(entry_.data_factor));
  }
  std::int64_t scaled_signed(DwarfReader& reader) const {
    return scaled(static_cast<std::uint64_t>(reader.signed_number()));
  }
  static CallFrameRule saved(std::int64_t offset) { return {CallFrameRule::Is::at_cfa, 0, offset, {}}; }

  bool advance(std::uint64_t delta) {
    std::uint64_t bytes = 0;
    behind_ = __builtin_mul_overflow(delta, entry_.code_factor, &bytes) || bytes > left_;
    if (!behind_) left_ -= bytes;
    return true;
  }

  bool set_cfa(std::uint64_t number, std::int64_t offset) {
    row_.cfa = {CallFrameRule::Is::sum, number, offset, {}};
    return true;
  }

  bool remember() {
    if (remembered_.size() >= kMaxRemembered) return false;
    remembered_.push_back(row_);
    return true;
  }

  bool recall() {
    if (remembered_.empty()) return false;
    row_ = remembered_.back();
    remembered_.pop_back();
    return true;
  }

  bool step(DwarfReader& reader) {
    const auto code = reader.fixed<std::uint8_t>();
    const std::uint64_t low = code & 0x3f;
    switch (code & 0xc0) {
      case 0x40:  // advance_loc
        return advance(low);
      case 0x80:  // offset
        set(low, saved(scaled(reader.unsigned_number())));
        return true;
      case 0xc0:  // restore
        restore(low);
        return true;
      default:
        return step_of_place(code, reader) || step_of_cfa(code, reader) || step_of_register(code, reader);
    }
  }

  bool step_of_place(std::uint8_t code, DwarfReader& reader) {
    switch (code) {
      case 0x00:  // nop
      case 0x2c:  // AARCH64_negate_ra_state_with_pc: whether a return address is signed is not asked
      case 0x2d:  // AARCH64_negate_ra_state
        return true;
      case 0x02:  // advance_loc1, 2, 4
        return advance(reader.fixed<std::uint8_t>());
      case 0x03:
        return advance(reader.fixed<std::uint16_t>());
      case 0x04:
        return advance(reader.fixed<std::uint32_t>());
      case 0x0a:
        return remember();
      case 0x0b:
        return recall();
      case 0x2e:  // GNU_args_size
        reader.unsigned_number();
        return true;
      default:
        return false;
    }
  }

  bool step_of_cfa(std::uint8_t code, DwarfReader& reader) {
    CallFrameRule& cfa = row_.cfa;
    const bool is_sum = cfa.is == CallFrameRule::Is::sum;
    switch (code) {
      case 0x0c: {  // def_cfa
        const std::uint64_t number = reader.unsigned_number();
        return set_cfa(number, static_cast<std::int64_t>(reader.unsigned_number()));
      }
      case 0x12: {  // def_cfa_sf
        const std::uint64_t number = reader.unsigned_number();
        return set_cfa(number, scaled_signed(reader));
      }
      case 0x0d:  // def_cfa_register
        return is_sum && set_cfa(reader.unsigned_number(), cfa.offset);
      case 0x0e:  // def_cfa_offset
        return is_sum && set_cfa(cfa.number, static_cast<std::int64_t>(reader.unsigned_number()));
      case 0x13:  // def_cfa_offset_sf
        return is_sum && set_cfa(cfa.number, scaled_signed(reader));
      case 0x0f:  // def_cfa_expression
        cfa = {CallFrameRule::Is::expression, 0, 0, reader.block(reader.unsigned_number())};
        return true;
      default:
        return false;
    }
  }

  bool step_of_register(std::uint8_t code, DwarfReader& reader) {
    const std::uint64_t number = reader.unsigned_number();
    switch (code) {
      case 0x05:  // offset_extended
        set(number, saved(scaled(reader.unsigned_number())));
        return true;
      case 0x11:  // offset_extended_sf
        set(number, saved(scaled_signed(reader)));
        return true;
      case 0x2f:  // GNU_negative_offset_extended
        set(number, saved(-scaled(reader.unsigned_number())));
        return true;
      case 0x06:  // restore_extended
        restore(number);
        return true;
      case 0x07:
        set(number, {CallFrameRule::Is::undefined, 0, 0, {}});
        return true;
      case 0x08:
        set(number, {CallFrameRule::Is::same, 0, 0, {}});
        return true;
      case 0x09:  // register: where that is kept is of no use once its function is left
        reader.unsigned_number();
        set(number, {CallFrameRule::Is::expression, 0, 0, {}});
        return true;
      case 0x14:  // val_offset
        set(number, {CallFrameRule::Is::sum, 0, scaled(reader.unsigned_number()), {}});
        return true;
      case 0x15:  // val_offset_sf
        set(number, {CallFrameRule::Is::sum, 0, scaled_signed(reader), {}});
        return true;
      case 0x10:
        set(number, {CallFrameRule::Is::saved_at, 0, 0, reader.block(reader.unsigned_number())});
        return true;
      case 0x16:  // val_expression
        set(number, {CallFrameRule::Is::expression, 0, 0, reader.block(reader.unsigned_number())});
        return true;
      default:
        return false;
    }
  }

  const CommonEntry& entry_;
  std::uint64_t left_;  // bytes of code up to the address
  bool behind_ = false;
  CallFrameRow row_, initial_;
  std::vector<CallFrameRow> remembered_;
};

// The entry of a function.
struct Function {
  FunctionExtent extent;
  CommonEntry common;
  std::span<const std::uint8_t> instructions;
};

std::optional<Function> function_around(const ElfFile& file, std::uint64_t address, std::uint64_t& read) {
  const auto listed = file.unwind_entry(address);
  if (!listed) return std::nullopt;
  DwarfReader reader(entry_at(file, listed->place, read));
  const auto back = reader.fixed<std::uint32_t>();
  const auto common = common_entry(entry_at(file, listed->place + sizeof back - back, read));
  std::uint64_t size = 0;
  if (back == 0 || !common || !read_pointer(reader, common->encoding) ||
      !read_pointer(reader, common->encoding & kFormat, &size) || address - listed->begin >= size)
    return std::nullopt;
  if (common->has_sizes) reader.block(reader.unsigned_number());
  if (!reader.whole()) return std::nullopt;
  return Function{{listed->begin, listed->begin + size}, *common, reader.rest()};
}

}  // namespace

std::optional<FunctionExtent> call_frame_function(const ElfFile& file, std::uint64_t address) {
  std::uint64_t read = 0;
  const auto function = function_around(file, address, read);
  return function ? std::optional(function->extent) : std::nullopt;
}

std::optional<CallFrameRow> call_frame_row(const ElfFile& file, std::uint64_t address, std::uint64_t& read) {
  const auto function = function_around(file, address, read);
  if (!function) return std::nullopt;
  Program program(function->common, function->extent.begin, address);
  if (!program.run_common() || !program.run(function->instructions)) return std::nullopt;
  CallFrameRow row = program.row();
  row.return_address = function->common.return_address;
  return row;
}

}  // namespace lotus::collector
