// A profiler's table (`import --uarch`) with arbitrary content: the counters that are read from it can be
// stored in a trace and split over operations.
#include <algorithm>

#include "fuzz.hpp"
#include "imported_facts.hpp"
#include "paper/split/counters.hpp"
#include "paper/split/split.hpp"
#include "text/error.hpp"

using namespace lotus::analyzer;

namespace {

constexpr std::size_t kMostBytes = 1 << 16;

void split(const std::vector<Counter>& counters) {
  std::vector<MappedFunction> mapped;
  for (const Counter& counter : counters)
    mapped.push_back({mapped.size() % 2 == 0 ? "Loader" : "Crop", counter.function, counter.library});
  for (const auto& split : split_counters(counters, mapped, {{"Loader", 6}, {"Crop", 3}}))
    lotus::fuzz::promise(!split.functions.empty(), "a counter is of some functions");
}

}  // namespace

std::vector<lotus::fuzz::Bytes> lotus::fuzz::seeds() {
  std::vector<Bytes> all;
  for (const char* text :
       {"Function\tModule\tCPU Time\tClockticks\tFront-End Bound(%)\n"
        "decode_mcu\t/usr/lib/libjpeg.so.9\t4.0s\t8000\t25.0\n"
        "memmove\tlibc.so.6\t1.0s\t2000\t10.0\n"
        "copy_kernel\tlibtorch_cpu.so\t500 ms\t\"1,000\"\t40.0\n",
        "\xef\xbb\xbfSymbol,Source File,Library,CPU_TIME,\"CYCLES NOT IN HALT, all\",IPC\r\n"
        "\"std::map<int, \"\"x\"\">::find\",a.cpp,/lib/x.so,12us,1000,10%\r\n"
        "f,,,,5,\r\n",
        "Function;Count\nf;1\n\nf;2\n"}) {
    const std::string seed = text;
    all.emplace_back(seed.begin(), seed.end());
  }
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const lotus::fuzz::MemoryFile file(lotus::fuzz::Bytes(data, data + std::min(size, kMostBytes)));
  try {
    const auto counters = read_counters(file.path(), {}, [](const std::string&) {});
    lotus::fuzz::promise(!counters.empty(), "a table without numbers is refused");
    lotus::fuzz::check_stored({"", 0, {}, counters});
    split(counters);
  } catch (const Unusable&) {
  }
  return 0;
}
