// A library with arbitrary headers, unwind tables, symbols and debugging information: stacks in its code are
// unwound and named.
#include <fstream>
#include <iterator>

#include "fuzz.hpp"
#include "log.hpp"
#include "names/namer.hpp"
#include "stacks/process_stacks.hpp"
#include "support/snapshots.hpp"

using namespace lotus;
using namespace lotus::collector;

namespace {

constexpr std::uint64_t kStart = 0x7f00'0000'0000;
constexpr std::uint64_t kStack = 0x7ffd'0000'0000;
constexpr std::size_t kStackWords = 64;

std::vector<std::uint64_t> addresses_in(const ElfFile& file) {
  std::vector<std::uint64_t> found;
  for (const ElfFile::Function& function : file.functions()) {
    if (found.size() >= 16) break;
    found.push_back(function.begin);
    found.push_back(function.begin + (function.end - function.begin) / 2);
  }
  for (const ElfFile::Code& code : file.code())
    for (std::size_t at = 0; at < code.bytes.size() && found.size() < 32; at += 1 + code.bytes.size() / 8)
      found.push_back(code.address + at);
  return found;
}

// A snapshot whose stack words are addresses of the library's code.
std::vector<std::uint8_t> snapshot(const std::vector<std::uint64_t>& addresses, std::size_t first) {
  test::SnapshotParts parts;
  parts.registers[kOwnRegisters.stack_pointer] = parts.header.stack_start = kStack;
  parts.registers[kOwnRegisters.program_counter] = kStart + addresses[first];
  parts.registers[6] = kStack + 64;  // rbp
  parts.stack.resize(kStackWords * 8);
  parts.header.stack_bytes = static_cast<std::uint32_t>(parts.stack.size());
  for (std::size_t i = 0; i < kStackWords; ++i) {
    const std::uint64_t word = kStart + addresses[(first + i) % addresses.size()];
    std::memcpy(parts.stack.data() + 8 * i, &word, 8);
  }
  return parts.bytes();
}

}  // namespace

std::vector<fuzz::Bytes> fuzz::seeds() {
  std::vector<Bytes> all;
  for (const char* name : {"plain", "debug", "compressed", "stripped"}) {
    std::ifstream file(std::string(LOTUS_FUZZ_LIBRARIES "/") + name + ".so", std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    promise(all.back().size() > 1000, "the libraries that are seeds were built");
  }
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::Bytes(data, data + size));
  const auto elf = ElfFile::open(file.path());
  if (!elf) return 0;
  const auto addresses = addresses_in(*elf);
  if (addresses.empty()) return 0;
  Stacks stacks;
  ProcessStacks process(stacks, static_cast<std::uint32_t>(getpid()));
  const std::string path = file.path();
  fuzz::Bytes bytes(encoded_bound<Kind::module>(0u, 0u, 0u, 0u, path, elf->build_id()));
  bytes.resize(static_cast<std::size_t>(encode<Kind::module>(bytes.data(), 0, 1u, kStart,
                                                             kStart + (std::uint64_t{1} << 30), kStart, path,
                                                             elf->build_id()) -
                                        bytes.data()));
  process.define(bytes, 1);
  RingRecord record{};
  record.base_ticks = 10;
  for (std::size_t first = 0; first < addresses.size(); first += 3)
    process.take(record, snapshot(addresses, first), false);
  process.rollback();
  Log log("", Log::Where::nowhere, true);
  name_locations(stacks, log);
  fuzz::promise(stacks.store.unnamed().empty(), "every location gets a name");
  return 0;
}
