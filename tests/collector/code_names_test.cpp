// Functions that are recognised by their code, in Debian's libjpeg, whose exported functions say whether the
// names are true.
#include <doctest/doctest.h>
#include <gelf.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "names/code_names.hpp"
#include "names/named_library.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

const std::string kLibraries = "/usr/lib/x86_64-linux-gnu/";
const std::string kLibjpeg = kLibraries + "libjpeg.so.62";

using Found = std::map<std::uint64_t, collector::CodeName>;  // by beginning

Found known_in(const collector::ElfFile& file) {
  Found found;
  for (const auto& function : file.functions())
    if (const auto name = collector::name_by_code(file, function.begin, function.end - function.begin))
      found.emplace(function.begin, *name);
  return found;
}

std::uint64_t begin_of(const std::string& name, const Found& found, std::uint64_t least) {
  for (const auto& [begin, known] : found)
    if (known.name == name && known.bytes >= least) return begin;
  return 0;
}

// A copy of libjpeg with a byte changed.
struct Changed {
  TemporaryDirectory place;
  std::string path = place / "libjpeg.so.62";

  Changed(std::uint64_t offset, std::uint8_t bits) {
    std::filesystem::copy_file(std::filesystem::canonical(kLibjpeg), path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const auto byte = static_cast<char>(file.get() ^ bits);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }
};

}  // namespace

TEST_CASE("names by code are those of exported functions, and decode_mcu has its own") {
  if (!std::filesystem::exists(kLibjpeg)) {
    MESSAGE("skipped: there is no ", kLibjpeg);
    return;
  }
  const auto file = collector::ElfFile::open(kLibjpeg);
  const Found found = known_in(*file);
  std::map<std::uint64_t, std::set<std::string>> exported;
  for (const auto& [name, extent] : functions_in(kLibjpeg, "-D"))
    exported[extent.begin].insert(name.substr(0, name.find('@')));
  int confirmed = 0;
  for (const auto& [begin, known] : found) {
    const std::string name = known.name;
    CAPTURE(name);
    const bool is_exported = exported.contains(begin);
    CHECK((!is_exported || exported[begin].contains(name)));
    confirmed += is_exported;
  }
  CHECK(confirmed >= 10);
  CHECK(found.size() > 40);
  const std::uint64_t begin = begin_of("decode_mcu", found, 5000);  // the Huffman decoder
  REQUIRE(begin != 0);
  NamedFile names(kLibjpeg);
  const collector::CodeName decoder = found.at(begin);
  for (const std::uint64_t at : {begin, begin + decoder.bytes / 2, begin + decoder.bytes - 1}) {
    CHECK(names.names(at) == "decode_mcu");
    CHECK(names.source(at) == NameSource::code);
  }
  CHECK(names.names(begin + decoder.bytes) != "decode_mcu");
  CHECK(names.names(begin - 1) != "decode_mcu");
}

TEST_CASE("code that differs in a bit has no name; an address that the linker fills in may differ") {
  if (!std::filesystem::exists(kLibjpeg)) return;
  const auto file = collector::ElfFile::open(kLibjpeg);
  const Found found = known_in(*file);
  const std::uint64_t begin = begin_of("decode_mcu", found, 5000);
  REQUIRE(begin != 0);
  const std::uint64_t bytes = found.at(begin).bytes;
  const auto code = file->at(begin, bytes);
  const auto offset = static_cast<std::uint64_t>(code.data() - file->image().data());
  constexpr std::uint64_t kCall =
      5;  // bytes: the last one is of __stack_chk_fail, as Debian hardens its packages
  REQUIRE(code[bytes - kCall] == 0xe8);
  for (const std::uint64_t place : {std::uint64_t{0}, bytes / 2, bytes - kCall}) {
    const Changed changed(offset + place, 1);
    CHECK_FALSE(collector::name_by_code(*collector::ElfFile::open(changed.path), begin, bytes));
  }
  const Changed moved(offset + bytes - 1, 1);
  CHECK(collector::name_by_code(*collector::ElfFile::open(moved.path), begin, bytes));
  CHECK_FALSE(collector::name_by_code(*file, begin, bytes - 1));
  CHECK_FALSE(collector::name_by_code(*file, begin + 1, 0));
}

TEST_CASE("libraries of another machine and without libjpeg have no known code") {
  if (std::filesystem::exists(kLibjpeg)) {
    const Changed other(18, EM_X86_64 ^ EM_AARCH64);  // e_machine
    const auto file = collector::ElfFile::open(other.path);
    REQUIRE(file != nullptr);
    CHECK(known_in(*file).empty());
  }
  for (const char* name : {"libc.so.6", "libstdc++.so.6", "libz.so.1", "libpng16.so.16", "libtiff.so.6"}) {
    if (!std::filesystem::exists(kLibraries + name)) continue;
    const auto file = collector::ElfFile::open(kLibraries + name);
    REQUIRE(file != nullptr);
    const Found found = known_in(*file);
    CAPTURE(name);
    CHECK(found.empty());
  }
}
