// Mutates ELF files within one of their parts (headers, a section). Mutations at random offsets would mostly
// hit padding, or make the file unreadable. libFuzzer and driver.cpp look for LLVMFuzzerCustomMutator() in a
// target.
#include <elf.h>

#include <algorithm>
#include <random>

#include "fuzz.hpp"

namespace {

using lotus::fuzz::Bytes;
using Random = std::mt19937_64;

struct Part {
  std::uint64_t offset, size;
};

constexpr std::uint64_t kMostSections = 64, kMostSegments = 32;
constexpr std::uint64_t kLongest = 32;  // bytes changed by one mutation

void add(std::vector<Part>& parts, const Bytes& file, Part part) {
  if (part.offset < file.size() && part.size > 0)
    parts.push_back({part.offset, std::min(part.size, file.size() - part.offset)});
}

std::vector<Part> parts_of(const Bytes& file) {
  const auto header = lotus::fuzz::read_at<Elf64_Ehdr>(file, 0);
  const std::uint64_t sections = std::min<std::uint64_t>(header.e_shnum, kMostSections);
  std::vector<Part> parts;
  add(parts, file, {0, sizeof header});
  add(parts, file,
      {header.e_phoff, std::min<std::uint64_t>(header.e_phnum, kMostSegments) * sizeof(Elf64_Phdr)});
  add(parts, file, {header.e_shoff, sections * sizeof(Elf64_Shdr)});
  for (std::uint64_t i = 0; i < sections; ++i) {
    const auto section = lotus::fuzz::read_at<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS) add(parts, file, {section.sh_offset, section.sh_size});
  }
  return parts;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  Random random(seed);
  const std::vector<Part> parts = parts_of(Bytes(data, data + size));
  if (parts.empty() || random() % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
    const Part& part = parts[random() % parts.size()];
    const std::uint64_t at = random() % part.size;
    const std::uint64_t bytes = std::min(part.size - at, 1 + random() % kLongest);
    LLVMFuzzerMutate(data + part.offset + at, bytes, bytes);
  }
  return size;
}
