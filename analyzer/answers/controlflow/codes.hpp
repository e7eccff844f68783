// The codes of a process as graphs, made when they are asked for.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "answers/controlflow/code_flow.hpp"
#include "answers/controlflow/region.hpp"

namespace lotus::analyzer::controlflow {

class Codes {
 public:
  // `regions`: all of the process, of which instructions are known that were seen.
  Codes(const Process& process, const std::vector<const Region*>& regions);

  // nullptr: its instructions are not known, or it is machinery.
  const CodeFlow* find(std::uint64_t code) const;
  // Of PyTorch itself or Python's library: its loops and recursions are not the program's, and their time
  // belongs to who calls them.
  bool is_machinery(std::uint64_t code) const { return machinery_.contains(code); }

 private:
  bool drop_seldom_seen(const std::vector<const Region*>& regions);

  std::map<std::uint64_t, std::unique_ptr<CodeFlow>> flows_;
  std::set<std::uint64_t> machinery_;
};

// Of Python 3: "3.11.2" has 11; 0: not known.
unsigned minor_of(const Process& process);

}  // namespace lotus::analyzer::controlflow
