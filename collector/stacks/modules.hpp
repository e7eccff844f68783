// The modules that a traced process had loaded at any time, from its definitions `module`, `module_gone` and
// `modules_of`.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <optional>
#include <vector>

#include "stacks/binaries.hpp"
#include "stacks/module_histories.hpp"

namespace lotus::collector {

class Modules {
 public:
  explicit Modules(Binaries& binaries) : binaries_(&binaries) {}
  // Of process `own`, among those that may refer to each other.
  Modules(Binaries& binaries, ModuleHistories& histories, const ProcessKey& own)
      : binaries_(&binaries), histories_(&histories), own_(own) {}

  static bool is_about_modules(Kind kind) {
    return kind == Kind::module || kind == Kind::module_gone || kind == Kind::modules_of;
  }
  // Such a definition of process `pid`, made at `ticks`. A module with a known id is the same module again.
  // Modules that make no sense are ignored.
  void define(const Record& record, std::uint64_t ticks, std::uint32_t pid);
  // An ancestor's modules are referred to that are not known yet.
  bool lacks_ancestor();
  // Goes on with those that are known.
  void give_up_ancestor() { inherit(true); }
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
  struct Range {
    std::uint64_t start, end, to_common;
  };
  std::optional<std::uint64_t> find(std::uint64_t address) const;
  void add(const Record& record, std::uint64_t ticks, std::uint32_t pid);
  void keep(const Module& module);
  void set_gone(std::uint64_t id, std::uint64_t ticks);
  void begin_history();
  void inherit(bool incomplete);
  void changed();
  void build_view(std::uint64_t ticks);

  // What `modules_of` says.
  struct Reference {
    ProcessKey ancestor;
    std::uint64_t at, count;
    std::uint64_t ticks;  // of the definition
    std::uint32_t pid;    // of this process
  };
  struct Gone {
    std::uint64_t id, ticks;
  };

  Binaries* binaries_;
  ModuleHistories* histories_ = nullptr;
  ProcessKey own_;
  bool in_histories_ = false;           // this process has modules of its own
  bool refers_ = false;                 // a process refers to one ancestor, once
  std::optional<Reference> reference_;  // until it is resolved
  std::vector<Gone> gone_meanwhile_;
  std::vector<Module> modules_;                   // in the order of their definition
  std::vector<Range> view_;                       // by address, without overlaps
  std::uint64_t view_from_ = 1, view_until_ = 0;  // ticks that the view holds for
  std::uint64_t lowest_ = 0, highest_ = 0;
  std::uint64_t generation_ = 0;
  mutable std::size_t last_ = 0;  // range of the last hit
};

}  // namespace lotus::collector
