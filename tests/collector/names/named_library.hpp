// A library made from library.cpp by the compiler and binutils, and what those say of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "names/symbols.hpp"
#include "support/temporary.hpp"

namespace lotus::test {

// What a shell command writes; throws std::runtime_error with it if the command fails.
std::string output_of(const std::string& command);

struct Extent {
  std::uint64_t begin = 0, end = 0;
};

// `nm -S`: functions by their name, mangled; `options`: further ones.
std::map<std::string, Extent> functions_in(const std::string& file, const std::string& options = "");

// Names of a file's addresses as the collector finds them.
class NamedFile {
 public:
  explicit NamedFile(const std::string& path);

  std::vector<collector::NamedFrame> frames(std::uint64_t address);
  // Innermost first, "inner < outer".
  std::string names(std::uint64_t address);
  NameSource source(std::uint64_t address) { return frames(address).at(0).function.source; }

 private:
  collector::Binaries binaries_;
  collector::Unwinder unwinder_{binaries_};
  collector::BinaryId id_;
  collector::Symbols symbols_;
};

// The compiled library in a directory of its own.
struct Library {
  TemporaryDirectory place;
  std::string path = place / "libshapes.so";
  std::map<std::string, Extent> functions;  // with local ones, from before anything was stripped

  Library();
};

}  // namespace lotus::test
