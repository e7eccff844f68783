// The codes of a process as graphs, made when they are asked for.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>
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
  // A loop of the code in which steps of training begin: over batches or epochs. It is none of a step's.
  bool is_around(std::uint64_t code, std::size_t loop) const { return around_.contains({code, loop}); }
  // By code and the loop's number there.
  const std::set<std::pair<std::uint64_t, std::size_t>>& around() const { return around_; }

 private:
  bool drop_seldom_seen(const std::vector<const Region*>& regions);
  void find_around(const Region& step);

  std::map<std::uint64_t, std::unique_ptr<CodeFlow>> flows_;
  std::set<std::uint64_t> machinery_;
  std::set<std::pair<std::uint64_t, std::size_t>> around_;
};

// Of Python 3: "3.11.2" has 11; 0: not known.
unsigned minor_of(const Process& process);

}  // namespace lotus::analyzer::controlflow
