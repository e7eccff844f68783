// The modules that a traced process had loaded at any time, from its definitions `module` and `module_gone`.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <optional>
#include <vector>

#include "stacks/binaries.hpp"

namespace lotus::collector {

class Modules {
 public:
  explicit Modules(Binaries& binaries) : binaries_(&binaries) {}

  // A definition `module` or `module_gone` of process `pid`, made at `ticks`. A module with a known id is
  // the same module again. Modules that make no sense are ignored.
  void define(const Record& record, std::uint64_t ticks, std::uint32_t pid);
  // Forgets modules that were gone already at the previous call: no snapshot of their time will come.
  void forget_gone();

  // Sets the time that translate() answers for. A module is defined some time after it was loaded, so one
  // that was defined after `ticks` counts as loaded too, where no other module was.
  void look_at(std::uint64_t ticks);
  // The common address of an address of the process; empty where it has no module.
  std::optional<std::uint64_t> translate(std::uint64_t address) const {
    if (address < lowest_ || address >= highest_) return std::nullopt;
    return find(address);
  }
  // Grows whenever a module comes or goes.
  std::uint64_t generation() const { return generation_; }

 private:
  struct Module {
    std::uint64_t id, start, end, from, gone;
    std::uint64_t to_common;  // common address = address + this
    bool old;                 // was gone at the last forget_gone()
  };
  struct Range {
    std::uint64_t start, end, to_common;
  };
  std::optional<std::uint64_t> find(std::uint64_t address) const;
  void add(const Record& record, std::uint64_t ticks, std::uint32_t pid);
  void build_view(std::uint64_t ticks);

  Binaries* binaries_;
  std::vector<Module> modules_;                   // in the order of their definition
  std::vector<Range> view_;                       // by address, without overlaps
  std::uint64_t view_from_ = 1, view_until_ = 0;  // ticks that the view holds for
  std::uint64_t lowest_ = 0, highest_ = 0;
  std::uint64_t generation_ = 0;
  mutable std::size_t last_ = 0;  // range of the last hit
};

}  // namespace lotus::collector
