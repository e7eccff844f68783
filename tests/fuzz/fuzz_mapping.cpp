// A mapping file (`import --mapping`) with arbitrary content: the mapping that is read from it can be
// written, stored in a trace and used.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "fuzz.hpp"
#include "imported_facts.hpp"
#include "paper/split/mapping.hpp"
#include "paper/split/split.hpp"
#include "text/error.hpp"

using namespace lotus::analyzer;

namespace {

std::vector<MappedFunction> read(const std::string& text) {
  const lotus::fuzz::MemoryFile file(lotus::fuzz::Bytes(text.begin(), text.end()));
  return read_mapping(file.path());
}

std::vector<MappedFunction> sorted(std::vector<MappedFunction> mapped) {
  std::sort(mapped.begin(), mapped.end(), [](const MappedFunction& a, const MappedFunction& b) {
    return std::tie(a.op, a.function, a.library) < std::tie(b.op, b.function, b.library);
  });
  return mapped;
}

}  // namespace

std::vector<lotus::fuzz::Bytes> lotus::fuzz::seeds() {
  const std::string whole = R"({
  "op_to_func": {
    "Loader": ["decode_mcu|libjpeg.so.9", "memmove|libc.so.6"],
    "Crop": ["memmove|libc.so.6"],
    "ToTensor": ["memmove|libc.so.6", "copy_kernel|libtorch_cpu.so"]
  },
  "common_funcs_to_op": {"memmove|libc.so.6": ["Loader", "Crop", "ToTensor"]}
}
)";
  const std::string odd = R"({"op_to_func":{"":["a|b|c","operator||<int>|x.so","f|"],"é\n":[]}})";
  return {{whole.begin(), whole.end()}, {odd.begin(), odd.end()}};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<MappedFunction> mapped;
  try {
    mapped = read({reinterpret_cast<const char*>(data), size});
  } catch (const Unusable&) {
    return 0;
  }
  lotus::fuzz::promise(sorted(read(mapping_json(mapped).dump())) == sorted(mapped),
                       "it is written as it was read");
  lotus::fuzz::check_stored({"", 0, mapped, {}});
  std::vector<Counter> counters;
  OpSeconds elapsed;
  for (const auto& one : mapped) {
    counters.push_back({one.function, one.library, "Clockticks", 1, false});
    elapsed[one.op] += 1;
  }
  for (const auto& split : split_counters(counters, mapped, elapsed))
    lotus::fuzz::promise(split.unmapped == 0, "each function belongs to an operation");
  lotus::fuzz::promise(unknown_ops(mapped, {}).size() == elapsed.size(), "each operation is named once");
  return 0;
}
