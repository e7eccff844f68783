#include "reading/trace/stack_table.hpp"

#include <algorithm>
#include <lotus/field.hpp>

namespace lotus::analyzer {
namespace {

NameSource source_of(std::uint64_t code) {
  const bool known = code >= static_cast<std::uint64_t>(NameSource::python) &&
                     code <= static_cast<std::uint64_t>(NameSource::code);
  return known ? static_cast<NameSource>(code) : NameSource::unknown;
}

}  // namespace

void StackTable::define(const Record& record) {
  switch (record.kind) {
    case Kind::binary:
      binaries_[field<Kind::binary, "id">(record)] = {std::string(field<Kind::binary, "path">(record)),
                                                      std::string(field<Kind::binary, "build_id">(record))};
      return;
    case Kind::location: {
      Location& location = locations_[field<Kind::location, "id">(record)];
      location.binary = field<Kind::location, "binary">(record);
      location.offset = field<Kind::location, "offset">(record);
      return;
    }
    case Kind::function:
      functions_[field<Kind::function, "id">(record)] = {
          std::string(field<Kind::function, "name">(record)), field<Kind::function, "binary">(record),
          std::string(field<Kind::function, "file">(record)), field<Kind::function, "line">(record),
          source_of(field<Kind::function, "source">(record))};
      return;
    case Kind::frame:
      return define_frame(record);
    case Kind::stack:
      stacks_[field<Kind::stack, "id">(record)] = {field<Kind::stack, "parent">(record),
                                                   field<Kind::stack, "location">(record)};
      return;
    default:
      return;
  }
}

// A location may be named twice, by a collector that ended too early and by the one that went on.
void StackTable::define_frame(const Record& record) {
  const Location::Frame frame{field<Kind::frame, "depth">(record), field<Kind::frame, "function">(record),
                              field<Kind::frame, "line">(record)};
  auto& frames = locations_[field<Kind::frame, "location">(record)].frames;
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
