#include "reading/trace/stack_table.hpp"

#include <algorithm>

namespace lotus::analyzer {
namespace {

NameSource source_of(std::uint64_t code) {
  const bool known = code >= static_cast<std::uint64_t>(NameSource::python) &&
                     code <= static_cast<std::uint64_t>(NameSource::unknown);
  return known ? static_cast<NameSource>(code) : NameSource::unknown;
}

}  // namespace

void StackTable::define(const Record& record) {
  const auto& u = record.u;
  switch (record.kind) {
    case Kind::binary:
      binaries_[u[0]] = {std::string(record.s[1]), std::string(record.s[2])};
      return;
    case Kind::location: {
      Location& location = locations_[u[0]];
      location.binary = u[1];
      location.offset = u[2];
      return;
    }
    case Kind::function:
      functions_[u[0]] = {std::string(record.s[1]), u[2], std::string(record.s[3]), u[4], source_of(u[5])};
      return;
    case Kind::frame:
      return define_frame(record);
    case Kind::stack:
      stacks_[u[0]] = {u[1], u[2]};
      return;
    default:
      return;
  }
}

// A location may be named twice, by a collector that ended too early and by the one that went on.
void StackTable::define_frame(const Record& record) {
  const Location::Frame frame{record.u[1], record.u[2], record.u[3]};
  auto& frames = locations_[record.u[0]].frames;
  if (frames.size() >= kMaxInlined) return;
  const auto place =
      std::lower_bound(frames.begin(), frames.end(), frame.depth,
                       [](const Location::Frame& a, std::uint64_t depth) { return a.depth < depth; });
  if (place != frames.end() && place->depth == frame.depth)
    *place = frame;
  else
    frames.insert(place, frame);
}

std::vector<std::uint64_t> StackTable::path(std::uint64_t stack) const {
  std::vector<std::uint64_t> locations;
  while (stack != 0 && locations.size() < kMaxDepth) {
    const auto node = stacks_.find(stack);
    if (node == stacks_.end()) break;
    locations.push_back(node->second.location);
    stack = node->second.parent;
  }
  return locations;
}

}  // namespace lotus::analyzer
