#include "answers/memory/source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "answers/stacks/library_code.hpp"

namespace lotus::analyzer::memory {
namespace {

constexpr std::size_t kMostFrames = 1024;  // a damaged trace may have circles

template <class Take>
void each_frame(const Process& process, std::uint64_t place, Take take) {
  for (std::size_t i = 0; place != 0 && i < kMostFrames; ++i) {
    const auto at = process.places.find(place);
    if (at == process.places.end()) return;
    const auto code = process.python_codes.find(at->second.code);
    if (code != process.python_codes.end() &&
        !take(SourceLine{code->second.file, code->second.name, at->second.line}))
      return;
    place = at->second.parent;
  }
}

}  // namespace

SourceLine source_of(const Process& process, std::uint64_t place) {
  SourceLine innermost, own;
  bool any = false, found = false;
  each_frame(process, place, [&](SourceLine line) {
    if (!any) innermost = line;
    any = true;
    found = !is_library_code(line.file);
    if (found) own = std::move(line);
    return !found;
  });
  return found ? own : innermost;
}

std::vector<SourceLine> chain_of(const Process& process, std::uint64_t place) {
  std::vector<SourceLine> chain;
  each_frame(process, place, [&](SourceLine line) {
    chain.push_back(std::move(line));
    return true;
  });
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::string source_text(const SourceLine& source) {
  if (source.file.empty()) return "not known";
  const std::string file = source.file.substr(source.file.rfind('/') + 1);
  return source.line != 0 ? fmt::format("{}:{}", file, source.line) : file;
}

}  // namespace lotus::analyzer::memory
