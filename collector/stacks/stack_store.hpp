// Every distinct stack of a trace, stored once: a tree of locations, and the definitions that write it to the
// trace.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <map>
#include <memory_resource>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "stacks/binaries.hpp"
#include "stacks/flat_table.hpp"
#include "stacks/recent_children.hpp"
#include "trace_file.hpp"

namespace lotus::collector {

struct FunctionName {
  std::string name;
  std::string file;        // where it is declared, may be empty
  std::uint64_t line = 0;  // of the declaration, 0 unknown
  NameSource source = NameSource::unknown;
};

// A function at a location. A location has several where functions are inlined.
struct NamedFrame {
  FunctionName function;
  std::uint64_t line = 0;  // of the location within the function, 0 unknown
};

class StackStore {
 public:
  explicit StackStore(Binaries& binaries) : binaries_(binaries) {}

  LocationId native(std::uint64_t common_address);
  LocationId python(const FunctionName& function);
  // The location of native code outside of all known modules.
  LocationId nowhere();
  // The stack of these locations, innermost first; 0 if there are none. When the tree has reached its largest
  // size, `cut` is set and the result is the stack of the innermost location alone.
  StackId stack(const std::vector<LocationId>& locations, bool& cut);

  // The common addresses of native locations without names, ascending.
  std::vector<std::uint64_t> unnamed() const;
  // Names a location; `frames` innermost first, not empty.
  void name(std::uint64_t common_address, const std::vector<NamedFrame>& frames);

  // Takes a definition that an earlier collector wrote.
  void restore(const Record& record);

  // Adds the definitions that are not in the file yet to its batch. They remain pending until commit().
  void write(TraceFile& file, Packer& packer, std::uint64_t ticks) const;
  void commit();

 private:
  struct Location {
    LocationId id = 0;
    bool named = false;
  };
  struct Node {
    std::uint64_t key = 0;  // the parent and the location
    StackId id = 0;
  };
  template <Kind K, class... Values>
  void define(const Values&... values);
  std::uint32_t function(const FunctionName& function, BinaryId binary);
  void name_location(LocationId location, BinaryId binary, const std::vector<NamedFrame>& frames);
  StackId child(StackId parent, LocationId location);
  void restore_binary(const Record& record);
  void restore_location(const Record& record);
  void restore_stack(const Record& record);
  void restore_function(const Record& record);
  void restore_frame(const Record& record);

  Binaries& binaries_;
  // A pool for nodes that live as long as the trace. Allocated among the short-lived data of processes, they
  // would fragment the heap.
  std::pmr::unsynchronized_pool_resource lasting_;
  std::pmr::unordered_map<std::uint64_t, Location> native_{&lasting_};  // by common address
  std::map<std::string, LocationId> python_;                            // by name, file and line
  FlatTable<Node> stacks_;
  RecentChildren recent_;
  std::unordered_map<std::string, std::uint32_t> functions_;  // by binary, name, file and line
  std::unordered_map<LocationId, std::uint64_t> restored_;    // binary and offset of an earlier collector's
  std::unordered_map<std::uint32_t, std::string> restored_python_;  // its Python functions, by function id
  std::uint32_t last_location_ = 0, last_stack_ = 0, last_function_ = 0, last_binary_ = 0;
  BinaryId unknown_ = 0;
  std::vector<std::vector<std::uint8_t>> pending_;  // bodies of definitions not yet in the file
  std::vector<std::uint32_t> pending_counts_;
};

}  // namespace lotus::collector
