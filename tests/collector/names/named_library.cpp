#include "names/named_library.hpp"

#include <array>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace lotus::test {
namespace {

std::string build_id_of(const std::string& path) {
  const auto file = collector::ElfFile::open(path);
  if (!file) throw std::runtime_error(path + " is no ELF file");
  return file->build_id();
}

}  // namespace

std::string output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> block{};
  for (std::size_t size = 0; (size = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
    text.append(block.data(), size);
  if (pclose(pipe) != 0) throw std::runtime_error(command + ": " + text);
  return text;
}

std::map<std::string, Extent> functions_in(const std::string& file, const std::string& options) {
  std::map<std::string, Extent> functions;
  std::istringstream lines(output_of("nm -S --defined-only " + options + " " + file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
    std::string type;
    std::string name;
    if (!(words >> std::hex >> begin >> size >> type >> name) || type.find_first_of("tTwWi") != 0) continue;
    functions[name] = {begin, begin + size};
  }
  return functions;
}

NamedFile::NamedFile(const std::string& path)
    : id_(binaries_.add(path, build_id_of(path), 0)), symbols_(binaries_.info(id_), binaries_.file(id_)) {}

std::vector<collector::NamedFrame> NamedFile::frames(std::uint64_t address) {
  return symbols_.find(id_, address, unwinder_);
}

std::string NamedFile::names(std::uint64_t address) {
  std::string names;
  for (const auto& frame : frames(address)) names += (names.empty() ? "" : " < ") + frame.function.name;
  return names;
}

Library::Library() {
  output_of(LOTUS_TEST_CXX " -std=c++20 -O2 -g -fPIC -shared -Wl,--build-id -o " + path +
            " " LOTUS_TEST_LIBRARY);
  functions = functions_in(path);
}

}  // namespace lotus::test
