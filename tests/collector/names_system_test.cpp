// Names at random addresses in libraries that pipelines use, compared with binutils.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "names/demangle.hpp"
#include "names/named_library.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

constexpr int kAddresses = 300;

// The first file that matches the pattern.
std::string find_file(const std::string& pattern) {
  const std::string found = output_of("ls -1 " + pattern + " 2>/dev/null | head -n 1; true");
  return found.substr(0, found.find('\n'));
}

// At random addresses of functions in .dynsym, checks that the name is one that nm lists for the function.
void compare_dynamic_symbols(const std::string& path) {
  CAPTURE(path);
  const auto functions = functions_in(path, "-D");
  std::vector<std::pair<std::string, Extent>> list(functions.begin(), functions.end());
  REQUIRE(list.size() > 100);
  NamedFile file(path);
  std::mt19937 random(1);
  int checked = 0;
  for (int i = 0; i < kAddresses; ++i) {
    const Extent extent = list[random() % list.size()].second;
    if (extent.begin == extent.end) continue;
    const std::uint64_t address = extent.begin + random() % (extent.end - extent.begin);
    if (file.source(address) != NameSource::dynsym) continue;
    std::set<std::string> names;
    for (const auto& [name, other] : list)
      if (address >= other.begin && address < other.end) names.insert(collector::demangled(name.c_str()));
    CAPTURE(file.names(address));
    CHECK(names.contains(file.names(address)));
    ++checked;
  }
  CHECK(checked > kAddresses / 2);
}

void compare_if_there(const std::string& pattern) {
  const std::string path = find_file(pattern);
  if (path.empty()) {
    MESSAGE("skipped: there is no ", pattern);
    return;
  }
  compare_dynamic_symbols(path);
}

}  // namespace

TEST_CASE("libjpeg") { compare_if_there("/usr/lib/x86_64-linux-gnu/libjpeg.so.62"); }
TEST_CASE("Pillow") { compare_if_there("/usr/lib/python3/dist-packages/PIL/_imaging.*.so"); }
TEST_CASE("Python") { compare_if_there("/usr/bin/python3.*[0-9]"); }
TEST_CASE("libtorch") { compare_if_there("/usr/lib/x86_64-linux-gnu/libtorch_cpu.so.*[0-9]"); }

TEST_CASE("libc, by its build id in /usr/lib/debug") {
  const std::string path = find_file("/usr/lib/x86_64-linux-gnu/libc.so.6");
  const std::string id = path.empty() ? "" : collector::ElfFile::open(path)->build_id();
  const std::string debug =
      id.empty() ? ""
                 : find_file("/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
  if (debug.empty()) {
    MESSAGE("skipped: libc has no debugging information here");
    return;
  }
  NamedFile file(path);
  int checked = 0;
  for (const auto& [name, extent] : functions_in(debug)) {
    if (name != "qsort_r" && name != "_int_malloc" && name != "vfprintf") continue;
    CHECK(file.source(extent.begin) == NameSource::dwarf);
    CHECK(file.frames(extent.begin).back().function.name.find(name == "vfprintf" ? "vfprintf" : name) !=
          std::string::npos);
    ++checked;
  }
  CHECK(checked >= 2);
}
