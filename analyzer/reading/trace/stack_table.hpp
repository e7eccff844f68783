// The sampled stacks, from the collector's definitions: a tree of locations and their names. Grows with the
// distinct stacks of a trace, not with its samples.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace lotus::analyzer {

struct Binary {
  std::string path, build_id;  // build_id: hex, empty: none
};

// A native function, or a Python one (source python).
struct Function {
  std::string name;
  std::uint64_t binary = 0;  // 0: a Python function
  std::string file;          // of its source, empty: not known
  std::uint64_t line = 0;
  NameSource source = NameSource::unknown;
};

struct Location {
  std::uint64_t binary = 0;  // 0: a Python function
  std::uint64_t offset = 0;  // virtual address in the file
  struct Frame {
    std::uint64_t depth, function, line;  // line: where in the function's file, 0 not known
  };
  std::vector<Frame> frames;  // innermost inlined function first; empty: no name
};

class StackTable {
 public:
  // Deeper stacks than this are damage, as are cycles of parents.
  static constexpr std::size_t kMaxDepth = 1024;
  // More inlined functions than this at one location are damage.
  static constexpr std::size_t kMaxInlined = 1024;

  // Adds one of the collector's definitions.
  void define(const Record& record);

  // nullptr where a definition is lost.
  const Binary* binary(std::uint64_t id) const { return find(binaries_, id); }
  const Function* function(std::uint64_t id) const { return find(functions_, id); }
  const Location* location(std::uint64_t id) const { return find(locations_, id); }
  // Ids of the stack's locations, innermost first; shorter where a definition is lost.
  std::vector<std::uint64_t> path(std::uint64_t stack) const;

  std::size_t stacks() const { return stacks_.size(); }

 private:
  struct Node {
    std::uint64_t parent, location;
  };
  template <class T>
  static const T* find(const std::unordered_map<std::uint64_t, T>& table, std::uint64_t id) {
    const auto hit = table.find(id);
    return hit == table.end() ? nullptr : &hit->second;
  }
  void define_frame(const Record& record);

  std::unordered_map<std::uint64_t, Binary> binaries_;
  std::unordered_map<std::uint64_t, Function> functions_;
  std::unordered_map<std::uint64_t, Location> locations_;
  std::unordered_map<std::uint64_t, Node> stacks_;
};

}  // namespace lotus::analyzer
