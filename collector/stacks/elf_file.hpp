// An ELF file that traced code runs from, mapped for reading: the parts that unwinding needs. Of any machine
// that Lotus knows: not only of the collector's own.
#pragma once

#include <cstdint>
#include <lotus/machine.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "guarded_mapping.hpp"

namespace lotus::collector {

class ElfFile {
 public:
  // Maps `path`; nullptr if it is no plain 64-bit little-endian ELF file of a known machine.
  static std::unique_ptr<ElfFile> open(const std::string& path);
  // The vDSO of this process, which is that of every process of this kernel; nullptr if there is none.
  static std::unique_ptr<ElfFile> vdso();

  // What it was opened as, empty for the vDSO.
  const std::string& path() const { return path_; }
  Machine machine() const { return machine_; }
  // GNU build id in hex, empty if it has none.
  const std::string& build_id() const { return build_id_; }
  // Virtual address of .eh_frame_hdr and its bytes; 0 if there is none.
  std::uint64_t unwind_table() const { return unwind_table_; }
  std::uint64_t unwind_table_bytes() const { return unwind_table_bytes_; }
  // The rows of .eh_frame_hdr, sorted by function: two 4-byte offsets from the section's start, to a function
  // and to its entry. Empty if they have another encoding than the one that common linkers write.
  std::span<const std::uint8_t> unwind_rows() const;
  struct UnwindEntry {
    std::uint64_t begin;  // of the function
    std::uint64_t place;  // of its entry in .eh_frame
  };
  // The entry of the last function that begins at or before `address`; empty if there is none.
  std::optional<UnwindEntry> unwind_entry(std::uint64_t address) const;
  struct Function {
    std::uint64_t begin, end;
  };
  // The functions that have unwind entries, ascending; end == begin where the entry is encoded unusually.
  std::vector<Function> functions() const;

  // File content of `size` bytes at a virtual address; empty where the file has none.
  std::span<const std::uint8_t> at(std::uint64_t address, std::uint64_t size) const;
  // As much as there is from `address` to the end of its segment.
  std::span<const std::uint8_t> from(std::uint64_t address) const;
  struct Code {
    std::uint64_t address;
    std::span<const std::uint8_t> bytes;
  };
  // The executable segments.
  std::vector<Code> code() const;
  // Virtual addresses that the file is loaded at.
  std::uint64_t lowest_address() const;
  std::uint64_t highest_address() const;
  std::span<const std::uint8_t> image() const { return image_; }

 private:
  struct Load {
    std::uint64_t address, offset, bytes, end;
    bool executable;
  };
  ElfFile() = default;
  bool parse();
  UnwindEntry unwind_row(std::span<const std::uint8_t> rows, std::size_t number) const;
  void find_build_id(std::span<const std::uint8_t> notes, std::uint64_t align);

  std::string path_;
  std::unique_ptr<GuardedMapping> mapping_;
  std::span<const std::uint8_t> image_;
  std::vector<Load> loads_;
  std::string build_id_;
  Machine machine_ = Machine::none;
  std::uint64_t unwind_table_ = 0;
  std::uint64_t unwind_table_bytes_ = 0;
};

}  // namespace lotus::collector
