// Names of the addresses of one binary, from the best source available.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "names/call_targets.hpp"
#include "names/code_names.hpp"
#include "stacks/stack_store.hpp"
#include "stacks/unwinder.hpp"

namespace lotus::collector {

class Symbols {
 public:
  // `file`: nullptr if it cannot be read; outlives this. Looks for debugging information beside the file,
  // in /usr/lib/debug, and on the servers of DEBUGINFOD_URLS. Reads symbols now, debugging information when
  // it is needed.
  Symbols(const Binary& binary, const ElfFile* file);
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // The functions at `offset`, innermost first; never empty.
  std::vector<NamedFrame> find(BinaryId binary, std::uint64_t offset, Unwinder& unwinder);

 private:
  struct Sources;
  const CodeName* known_function(std::uint64_t begin, std::uint64_t bytes);
  std::optional<std::uint64_t> called_function(std::uint64_t offset);

  std::string base_name_;
  const ElfFile* file_;
  std::unique_ptr<Sources> sources_;
  std::unique_ptr<CallTargets> calls_;                                // made when it is needed
  std::unordered_map<std::uint64_t, std::optional<CodeName>> known_;  // by beginning
};

}  // namespace lotus::collector
