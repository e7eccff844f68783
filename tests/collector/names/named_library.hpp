// A library compiled from library.cpp, with its symbols and names according to binutils.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "names/symbols.hpp"
#include "support/temporary.hpp"

namespace lotus::test {

// The output of a shell command; if the command fails, throws a std::runtime_error that contains it.
std::string output_of(const std::string& command);

struct Extent {
  std::uint64_t begin = 0, end = 0;
};

// The functions that `nm -S` lists, by mangled name. `options`: further options of nm.
std::map<std::string, Extent> functions_in(const std::string& file, const std::string& options = "");

// Names of a file's addresses as the collector finds them.
class NamedFile {
 public:
  explicit NamedFile(const std::string& path);

  std::vector<collector::NamedFrame> frames(std::uint64_t address);
  // The names at an address, innermost first: "inner < outer".
  std::string names(std::uint64_t address);
  NameSource source(std::uint64_t address) { return frames(address).at(0).function.source; }

 private:
  collector::Binaries binaries_;
  collector::Unwinder unwinder_{binaries_};
  collector::BinaryId id_;
  collector::Symbols symbols_;
};

// The compiled library, in its own directory.
struct Library {
  TemporaryDirectory place;
  std::string path = place / "libshapes.so";
  std::map<std::string, Extent> functions;  // with local functions: listed before symbols were stripped

  Library();
};

}  // namespace lotus::test
