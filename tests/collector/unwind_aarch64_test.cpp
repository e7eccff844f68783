// Stacks of aarch64, recorded there (aarch64/record), are unwound and named on any machine.
#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <fstream>
#include <lotus/field.hpp>
#include <sstream>

#include "names/call_targets.hpp"
#include "names/symbols.hpp"
#include "stacks/unwinder.hpp"

using namespace lotus;
using namespace lotus::collector;

namespace {

constexpr const char* kProgram = LOTUS_TEST_AARCH64 "/program";
constexpr unsigned kAddressBits = 48;

struct Recorded {
  std::string names;  // innermost first
  SnapshotHeader header{};
  std::vector<std::uint64_t> registers;
  std::vector<std::uint8_t> stack;

  std::vector<std::uint8_t> payload() const {
    std::vector<std::uint8_t> bytes(sizeof header + registers.size() * 8 + stack.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, registers.data(), registers.size() * 8);
    std::memcpy(bytes.data() + sizeof header + registers.size() * 8, stack.data(), stack.size());
    return bytes;
  }
};

std::vector<Recorded> recorded_stacks() {
  std::vector<Recorded> all;
  std::ifstream lines(LOTUS_TEST_AARCH64 "/stacks");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, bytes;
    words >> what >> std::hex;
    if (what == "name") {
      all.emplace_back().names = line.substr(5);
    } else if (what == "registers") {
      for (std::uint64_t value = 0; words >> value;) all.back().registers.push_back(value);
    } else {
      words >> all.back().header.stack_start >> bytes;
      for (std::size_t i = 0; i < bytes.size(); i += 2)
        all.back().stack.push_back(static_cast<std::uint8_t>(std::stoul(bytes.substr(i, 2), nullptr, 16)));
      all.back().header.stack_bytes = static_cast<std::uint32_t>(all.back().stack.size());
      all.back().header.machine = Machine::aarch64;
    }
  }
  return all;
}

struct Fixture {
  std::unique_ptr<ElfFile> file = ElfFile::open(kProgram);
  Binaries binaries;
  Unwinder unwinder{binaries};
  Modules modules{binaries};

  Fixture() {
    Record module;
    module.kind = Kind::module;
    module.u[kPlaceOf<Kind::module, "id">] = 1;
    module.u[kPlaceOf<Kind::module, "start">] = file->lowest_address();
    module.u[kPlaceOf<Kind::module, "end">] = file->highest_address();
    module.s[kPlaceOf<Kind::module, "path">] = kProgram;
    module.s[kPlaceOf<Kind::module, "build_id">] = file->build_id();
    modules.define(module, 0, 0);
    modules.look_at(1);
  }

  std::string names(const Unwound& unwound) {
    Symbols symbols({kProgram, file->build_id(), 0}, file.get());
    std::string all;
    for (const NativeFrame& frame : unwound.frames) {
      const auto found = symbols.find(binary_of(frame.address), offset_of(frame.address), unwinder);
      all += (all.empty() ? "" : " ") + found.back().function.name;
    }
    return all;
  }

  std::string unwind(const Recorded& recorded) {
    const auto payload = recorded.payload();
    const auto snapshot = parse_snapshot(payload);
    REQUIRE(snapshot);
    const Unwound& unwound = unwinder.unwind(*snapshot, modules);
    return names(unwound) + (unwound.cut ? " (cut)" : "");
  }
};

// The address of a function's symbol.
std::uint64_t address_of(const ElfFile& file, std::string_view name) {
  const auto* const image = file.image().data();
  const auto* const header = reinterpret_cast<const Elf64_Ehdr*>(image);
  const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(image + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(image + sections[i].sh_offset);
    const auto* const strings =
        reinterpret_cast<const char*>(image + sections[sections[i].sh_link].sh_offset);
    for (std::uint64_t at = 0; at < sections[i].sh_size / sizeof(Elf64_Sym); ++at)
      if (name == strings + symbols[at].st_name) return symbols[at].st_value;
  }
  return 0;
}

}  // namespace

TEST_CASE("the functions that the program says it is in") {
  Fixture fixture;
  const auto recorded = recorded_stacks();
  REQUIRE(recorded.size() == 2);
  for (const Recorded& stack : recorded) CHECK(fixture.unwind(stack) == stack.names + " _start");
}

TEST_CASE("the recorded return addresses are signed") {
  std::size_t words = 0;
  for (const Recorded& stack : recorded_stacks()) {
    for (std::size_t at = 0; at + 8 <= stack.stack.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, stack.stack.data() + at, sizeof word);
      const std::uint64_t address = word & ((std::uint64_t{1} << kAddressBits) - 1);
      if (address != word && address >= 0x400000 && address < 0x410000) ++words;
    }
  }
  CHECK(words >= 3);
}

TEST_CASE("a caller's return address is never taken from the register that its call wrote") {
  Fixture fixture;
  Recorded stack = recorded_stacks()[0];
  stack.registers[32] = address_of(*fixture.file, "leaf");
  // The leaf was called by a leaf, which cannot be: the unwind entry of one is wrong.
  stack.registers[30] = address_of(*fixture.file, "leaf") + 4;
  CHECK(fixture.unwind(stack) == "leaf leaf (cut)");
}

TEST_CASE("a stack that was not copied ends with the last function that is known") {
  Fixture fixture;
  Recorded stack = recorded_stacks()[0];
  stack.stack.clear();
  stack.header.stack_bytes = 0;
  CHECK(fixture.unwind(stack) == "leaf middle (cut)");
}

TEST_CASE("a snapshot that lacks registers is damaged, as is one of a machine that nobody knows") {
  Recorded stack = recorded_stacks()[0];
  stack.registers.pop_back();
  CHECK_FALSE(parse_snapshot(stack.payload()));
  stack = recorded_stacks()[0];
  stack.header.machine = Machine{1};
  CHECK_FALSE(parse_snapshot(stack.payload()));
}

TEST_CASE("a function without an unwind entry begins where other code takes its address") {
  Fixture fixture;
  const std::uint64_t wanted = address_of(*fixture.file, "return_from_handler");
  REQUIRE(wanted != 0);
  CHECK_FALSE(fixture.unwinder.function_at(1, wanted));
  CHECK(CallTargets(*fixture.file).function_at(wanted + 4) == wanted);
}

TEST_CASE("the extent of a function") {
  Fixture fixture;
  const std::uint64_t leaf = address_of(*fixture.file, "leaf");
  const auto extent = fixture.unwinder.function_at(1, leaf + 4);
  REQUIRE(extent);
  CHECK(extent->begin == leaf);
  CHECK(extent->end == leaf + 8);
}
