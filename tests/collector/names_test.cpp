// Where the names of sampled addresses come from: each source, compared with binutils.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "names/named_library.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

std::string hex(std::uint64_t address) {
  std::ostringstream text;
  text << "0x" << std::hex << address;
  return text.str();
}

// The result of addr2line for each address: pairs of function and file:line, innermost first.
std::vector<std::vector<std::pair<std::string, std::string>>> addr2line(
    const std::string& file, const std::vector<std::uint64_t>& addresses) {
  std::string command = "addr2line -a -i -f -C -e " + file;
  for (const std::uint64_t address : addresses) command += " " + hex(address);
  std::istringstream lines(output_of(command));
  std::vector<std::vector<std::pair<std::string, std::string>>> found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0x") && found.size() < addresses.size()) {
      found.emplace_back();
      continue;
    }
    std::string place;
    std::getline(lines, place);
    found.at(found.size() - 1).emplace_back(line, place.substr(0, place.find(" (discriminator")));
  }
  return found;
}

std::vector<std::uint64_t> all_of(const Extent& extent) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t at = extent.begin; at < extent.end; ++at) addresses.push_back(at);
  return addresses;
}

std::string up_to_parameters(const std::string& name) { return name.substr(0, name.find('(')); }

// The functions that are inlined into exported(), outermost first.
constexpr const char* kInlined[] = {"between", "deepest"};

void check_whole(NamedFile& file, const Extent& extent, const std::string& name, NameSource source) {
  for (const std::uint64_t address : all_of(extent)) {
    CHECK(file.names(address) == name);
    CHECK(file.source(address) == source);
  }
}

}  // namespace

TEST_CASE("debugging information: functions, inlined ones and lines are those of addr2line") {
  const Library library;
  NamedFile file(library.path);
  std::size_t inlined = 0;
  for (const char* name : {"exported", "caller", "_ZNK6shapes6Square4areaEi", "_ZL6hiddeni"}) {
    const auto addresses = all_of(library.functions.at(name));
    const auto expected = addr2line(library.path, addresses);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      CAPTURE(hex(addresses[i]));
      const auto frames = file.frames(addresses[i]);
      REQUIRE(frames.size() == expected.at(i).size());
      inlined = std::max(inlined, frames.size());
      for (std::size_t depth = 0; depth < frames.size(); ++depth) {
        const auto& [function, place] = expected[i][depth];
        // addr2line gives inlined functions the name of the enclosing symbol.
        const std::size_t inside = frames.size() - 1 - depth;
        CHECK(up_to_parameters(frames[depth].function.name) ==
              (inside > 0 ? kInlined[inside - 1] : up_to_parameters(function)));
        CHECK(frames[depth].line == std::strtoull(place.c_str() + place.rfind(':') + 1, nullptr, 10));
        CHECK(frames[depth].function.file == LOTUS_TEST_LIBRARY);
      }
    }
  }
  CHECK(inlined == 3);
}

TEST_CASE("C++ names have their parameters and no return type") {
  const Library library;
  NamedFile file(library.path);
  CHECK(file.names(library.functions.at("_ZNK6shapes6Square4areaEi").begin) ==
        "shapes::Square::area(int) const");
  CHECK(file.names(library.functions.at("_ZN6shapes7doubledIdEET_S1_").begin) ==
        "shapes::doubled<double>(double)");
}

TEST_CASE("local functions and lambdas have their full names with debugging information too") {
  const Library library;
  NamedFile file(library.path);
  CHECK(file.names(library.functions.at("_ZL6hiddeni").begin) == "hidden(int)");
  const auto lambda = std::find_if(
      library.functions.begin(), library.functions.end(),
      [](const auto& function) { return function.first.find("UliE_clEi") != std::string::npos; });
  REQUIRE((lambda != library.functions.end()));
  CHECK(file.names(lambda->second.begin) ==
        "shapes::with_lambda(int)::{lambda(int)#1}::operator()(int) const");
  CHECK(file.source(lambda->second.begin) == NameSource::dwarf);
}

TEST_CASE("a symbol table names local functions too; of aliases the plain name") {
  const Library library;
  output_of("strip --strip-debug " + library.path);
  NamedFile file(library.path);
  check_whole(file, library.functions.at("_ZL6hiddeni"), "hidden(int)", NameSource::symtab);
  check_whole(file, library.functions.at("exported"), "exported", NameSource::symtab);
}

TEST_CASE("a stripped library: exported functions by name, others by the start of their unwind entry") {
  const Library library;
  output_of("strip --strip-all " + library.path);
  NamedFile file(library.path);
  check_whole(file, library.functions.at("exported"), "exported", NameSource::dynsym);
  const Extent hidden = library.functions.at("_ZL6hiddeni");
  check_whole(file, hidden, "libshapes.so!" + hex(hidden.begin), NameSource::unwind_entry);
}

TEST_CASE("assembly without symbols and unwind entries: functions begin where others call them") {
  const TemporaryDirectory place;
  const std::string path = place / "libsimd.so";
  // One function is called, one has its address taken, one is jumped to. All contain jumps of their own.
  std::string assembly = ".text\n";
  for (const std::string name : {"called", "pointed", "jumped"})
    assembly +=
        ".p2align 5\n.globl " + name + "\n.hidden " + name + "\n" + name + ":\n push %rbp\n jmp .Lfar_" +
        name + "\n .p2align 4\n .fill 300, 1, 0x90\n.p2align 4\n.Lfar_" + name +
        ":\n pop %rbp\n ret\n.Lend_" + name + ":\n.size " + name + ", .Lend_" + name + "-" + name + "\n";
  write_text(place / "simd.s", assembly + ".section .note.GNU-stack,\"\",@progbits\n");
  write_text(place / "simd.c",
             "void called(void); void pointed(void); void jumped(void);\n"
             "void one(void) { called(); __asm__ volatile(\"\"); }\n"
             "void (*two(void))(void) { return pointed; }\n"
             "void three(void) { jumped(); }\n");
  output_of("cd " + place.path() + " && cc -O2 -fPIC -shared -Wl,--build-id -o libsimd.so simd.c simd.s");
  const auto functions = functions_in(path);
  output_of("strip --strip-all " + path);
  NamedFile file(path);
  for (const char* name : {"called", "pointed", "jumped"}) {
    const Extent extent = functions.at(name);
    REQUIRE(extent.end - extent.begin > 300);
    check_whole(file, extent, "libsimd.so!" + hex(extent.begin), NameSource::unwind_entry);
  }
}

TEST_CASE("a library without symbols and unwind entries: its name and the address") {
  const Library library;
  output_of("strip --strip-all " + library.path);
  NamedFile file(library.path);
  CHECK(file.names(0x10) == "libshapes.so!0x10");
  CHECK(file.source(0x10) == NameSource::unknown);
}

TEST_CASE("debugging information in a file of its own, found by its link") {
  const Library library;
  const std::string debug = library.place / ".debug";
  output_of("mkdir " + debug + " && cd " + library.place.path() +
            " && objcopy --only-keep-debug libshapes.so " + debug +
            "/libshapes.debug && strip --strip-all libshapes.so && objcopy --add-gnu-debuglink=" + debug +
            "/libshapes.debug libshapes.so");
  NamedFile file(library.path);
  CHECK(file.names(library.functions.at("_ZL6hiddeni").begin) == "hidden(int)");
  CHECK(file.source(library.functions.at("_ZL6hiddeni").begin) == NameSource::dwarf);
}

TEST_CASE("a pipe under the name of the separate file is not opened for reading") {
  const Library library;
  output_of("cd " + library.place.path() +
            " && objcopy --only-keep-debug libshapes.so libshapes.debug && strip --strip-all libshapes.so"
            " && objcopy --add-gnu-debuglink=libshapes.debug libshapes.so"
            " && rm libshapes.debug && mkfifo libshapes.debug");
  NamedFile file(library.path);
  CHECK(file.source(library.functions.at("_ZL6hiddeni").begin) == NameSource::unwind_entry);
}

TEST_CASE("a pipe in the place of what several debug files share is not opened for reading") {
  const Library library;
  output_of("cd " + library.place.path() +
            " && mkfifo shared && printf 'shared\\000%020d' 1 > link"
            " && objcopy --add-section .gnu_debugaltlink=link libshapes.so");
  NamedFile file(library.path);
  CHECK(file.names(library.functions.at("_ZL6hiddeni").begin) == "hidden(int)");
}

TEST_CASE("a separate file of another build is not used") {
  const Library library;
  const std::string debug = library.place / ".debug";
  output_of("mkdir " + debug + " && cd " + library.place.path() +
            " && objcopy --only-keep-debug libshapes.so " + debug +
            "/libshapes.debug && strip --strip-all libshapes.so && objcopy --add-gnu-debuglink=" + debug +
            "/libshapes.debug libshapes.so && cp /bin/true " + debug + "/libshapes.debug");
  NamedFile file(library.path);
  CHECK(file.source(library.functions.at("_ZL6hiddeni").begin) == NameSource::unwind_entry);
}

TEST_CASE("compressed symbols in .gnu_debugdata") {
  const Library library;
  output_of(
      "cd " + library.place.path() +
      " && objcopy --strip-debug --remove-section=.comment libshapes.so mini && xz mini"
      " && strip --strip-all libshapes.so && objcopy --add-section .gnu_debugdata=mini.xz libshapes.so");
  NamedFile file(library.path);
  check_whole(file, library.functions.at("_ZL6hiddeni"), "hidden(int)", NameSource::symtab);
}

TEST_CASE("compressed symbols of more than 64 MiB are not read") {
  const Library library;
  output_of(
      "cd " + library.place.path() +
      " && objcopy --strip-debug --remove-section=.comment libshapes.so mini"
      " && truncate -s +80M mini && xz mini"
      " && strip --strip-all libshapes.so && objcopy --add-section .gnu_debugdata=mini.xz libshapes.so");
  NamedFile file(library.path);
  CHECK(file.source(library.functions.at("_ZL6hiddeni").begin) == NameSource::unwind_entry);
}

TEST_CASE("a file with another build id than the process had is not read") {
  const Library library;
  collector::Binaries binaries;
  const auto id = binaries.add(library.path, "00112233", 0);
  CHECK(binaries.file(id) == nullptr);
}
