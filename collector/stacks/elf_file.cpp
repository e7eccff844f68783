#include "elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "fd.hpp"

namespace lotus::collector {
namespace {

// .eh_frame_hdr with the encodings that all linkers write: a table of 4-byte pairs relative to itself.
struct TableHeader {
  std::uint8_t version, frame_encoding, count_encoding, table_encoding;
  std::int32_t frame;
  std::uint32_t count;
};
constexpr TableHeader kUsual{1, 0x1b, 0x03, 0x3b, 0, 0};
constexpr std::uint64_t kRowBytes = 8;

constexpr std::uint64_t kMaxBuildId = 64;  // bytes; 20 are usual

// The structure at `offset`, copied; empty behind the end.
template <class Structure>
std::optional<Structure> copy_at(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Structure)) return std::nullopt;
  Structure value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::span<const std::uint8_t> cut(std::span<const std::uint8_t> bytes, std::uint64_t offset,
                                  std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(offset, size);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}

}  // namespace

std::unique_ptr<ElfFile> ElfFile::open(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return nullptr;
  std::unique_ptr<ElfFile> file(new ElfFile);
  file->path_ = path;
  file->mapping_ = GuardedMapping::map_private(fd.get(), static_cast<std::size_t>(status.st_size));
  if (!file->mapping_) return nullptr;
  file->image_ = {file->mapping_->data(), file->mapping_->size()};
  return file->parse() ? std::move(file) : nullptr;
}

std::unique_ptr<ElfFile> ElfFile::vdso() {
  const auto* start = reinterpret_cast<const std::uint8_t*>(getauxval(AT_SYSINFO_EHDR));
  if (start == nullptr) return nullptr;
  Elf64_Ehdr header;
  std::memcpy(&header, start, sizeof header);
  std::unique_ptr<ElfFile> file(new ElfFile);
  // The vDSO ends with its section headers.
  file->image_ = {start, header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize};
  return file->parse() ? std::move(file) : nullptr;
}

bool ElfFile::parse() {
  const auto header = copy_at<Elf64_Ehdr>(image_, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      registers_of(Machine{header->e_machine}).count == 0)
    return false;
  machine_ = Machine{header->e_machine};
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = copy_at<Elf64_Phdr>(image_, header->e_phoff + std::uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment) return false;
    if (segment->p_type == PT_LOAD) {
      if (cut(image_, segment->p_offset, segment->p_filesz).size() != segment->p_filesz) continue;
      const std::uint64_t offset =
          segment->p_filesz == 0 ? 0 : segment->p_offset;  // an empty segment may have any offset
      loads_.push_back({segment->p_vaddr, offset, segment->p_filesz, segment->p_vaddr + segment->p_memsz,
                        (segment->p_flags & PF_X) != 0});
    } else if (segment->p_type == PT_GNU_EH_FRAME) {
      unwind_table_ = segment->p_vaddr;
      unwind_table_bytes_ = segment->p_memsz;
    } else if (segment->p_type == PT_NOTE && build_id_.empty()) {
      find_build_id(cut(image_, segment->p_offset, segment->p_filesz), segment->p_align == 8 ? 8 : 4);
    }
  }
  if (at(unwind_table_, unwind_table_bytes_).empty()) unwind_table_ = unwind_table_bytes_ = 0;
  return true;
}

void ElfFile::find_build_id(std::span<const std::uint8_t> notes, std::uint64_t align) {
  std::uint64_t at = 0;
  while (const auto note = copy_at<Elf64_Nhdr>(notes, at)) {
    const std::uint64_t name = at + sizeof *note;
    const std::uint64_t body = name + round_up(note->n_namesz, align);
    const auto bytes = cut(notes, body, note->n_descsz);
    const auto owner = cut(notes, name, note->n_namesz);
    const bool gnu = owner.size() == 4 && std::memcmp(owner.data(), "GNU", 4) == 0;
    if (gnu && note->n_type == NT_GNU_BUILD_ID && !bytes.empty() && bytes.size() <= kMaxBuildId) {
      for (const std::uint8_t byte : bytes) build_id_ += fmt::format("{:02x}", byte);
      return;
    }
    at = body + round_up(note->n_descsz, align);
  }
}

std::span<const std::uint8_t> ElfFile::unwind_rows() const {
  const auto header = copy_at<TableHeader>(at(unwind_table_, sizeof(TableHeader)), 0);
  if (!header || std::memcmp(&*header, &kUsual, offsetof(TableHeader, frame)) != 0) return {};
  return at(unwind_table_ + sizeof(TableHeader), header->count * kRowBytes);
}

ElfFile::UnwindEntry ElfFile::unwind_row(std::span<const std::uint8_t> rows, std::size_t number) const {
  std::int32_t row[2];
  std::memcpy(row, rows.data() + number * kRowBytes, sizeof row);
  return {unwind_table_ + static_cast<std::uint64_t>(std::int64_t{row[0]}),
          unwind_table_ + static_cast<std::uint64_t>(std::int64_t{row[1]})};
}

std::optional<ElfFile::UnwindEntry> ElfFile::unwind_entry(std::uint64_t address) const {
  const auto rows = unwind_rows();
  std::size_t first = 0, last = rows.size() / kRowBytes;  // the first row behind `address` is among these
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (unwind_row(rows, middle).begin <= address)
      first = middle + 1;
    else
      last = middle;
  }
  if (first == 0) return std::nullopt;
  const UnwindEntry entry = unwind_row(rows, first - 1);
  return entry.begin <= address ? std::optional(entry) : std::nullopt;
}

std::vector<ElfFile::Function> ElfFile::functions() const {
  struct Entry {  // of .eh_frame
    std::uint32_t bytes, cie;
    std::int32_t begin;  // of the function, relative to this field
    std::uint32_t size;
  };
  const auto rows = unwind_rows();
  std::vector<Function> found(rows.size() / kRowBytes);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, place] = unwind_row(rows, i);
    const auto entry = copy_at<Entry>(at(place, sizeof(Entry)), 0);
    const bool usual =
        entry &&
        place + offsetof(Entry, begin) + static_cast<std::uint64_t>(std::int64_t{entry->begin}) == begin;
    found[i] = {begin, begin + (usual ? entry->size : 0)};
  }
  std::sort(found.begin(), found.end(),
            [](const Function& a, const Function& b) { return a.begin < b.begin; });
  return found;
}

std::vector<ElfFile::Code> ElfFile::code() const {
  std::vector<Code> code;
  for (const Load& load : loads_)
    if (load.executable) code.push_back({load.address, image_.subspan(load.offset, load.bytes)});
  return code;
}

std::uint64_t ElfFile::lowest_address() const {
  std::uint64_t lowest = loads_.empty() ? 0 : UINT64_MAX;
  for (const Load& load : loads_) lowest = std::min(lowest, load.address);
  return lowest;
}

std::uint64_t ElfFile::highest_address() const {
  std::uint64_t highest = 0;
  for (const Load& load : loads_) highest = std::max(highest, load.end);
  return highest;
}

std::span<const std::uint8_t> ElfFile::from(std::uint64_t address) const {
  for (const Load& load : loads_)
    if (address >= load.address && address - load.address < load.bytes)
      return image_.subspan(load.offset + (address - load.address), load.bytes - (address - load.address));
  return {};
}

std::span<const std::uint8_t> ElfFile::at(std::uint64_t address, std::uint64_t size) const {
  const auto bytes = from(address);
  return size <= bytes.size() ? bytes.first(size) : std::span<const std::uint8_t>{};
}

}  // namespace lotus::collector
