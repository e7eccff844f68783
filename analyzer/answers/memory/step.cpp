#include "answers/memory/step.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lotus::analyzer::memory {

Floor floor_of(const Step& step, bool persistent_fast) {
  const auto kept = [&](const Storage& storage) { return persistent_fast && persistent(storage); };
  Floor floor;
  for (const Storage& storage : step.storages)
    if (kept(storage)) floor.bytes += whole_pages(storage.bytes);
  const std::uint64_t always = floor.bytes;
  for (std::size_t k = 0; k < step.operators.size(); ++k) {
    std::uint64_t bytes = always + whole_pages(step.operators[k].workspace);
    for (const Operand& operand : step.operators[k].operands) {
      const Storage& storage = step.storages[operand.storage];
      if (!kept(storage)) bytes += whole_pages(storage.bytes);
    }
    if (!floor.op || bytes > floor.bytes) floor = {bytes, k};
  }
  return floor;
}

std::string no_such_step(std::uint64_t number, std::vector<std::uint64_t> there) {
  std::sort(there.begin(), there.end());
  there.erase(std::unique(there.begin(), there.end()), there.end());
  std::string list;
  for (std::size_t i = 0; i < there.size();) {
    std::size_t last = i;
    while (last + 1 < there.size() && there[last + 1] == there[last] + 1) ++last;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", there[i]);
    if (last > i) list += fmt::format("{}{}", last == i + 1 ? ", " : " to ", there[last]);
    i = last + 1;
  }
  return fmt::format("--step {}: no such step; there are {}", number, list);
}

}  // namespace lotus::analyzer::memory
