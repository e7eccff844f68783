// What operators and moves cost where storages lie in slow memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "answers/memory/step.hpp"

namespace lotus::analyzer::memory_plan {

// The two memories. Bandwidths in bytes/s, the latency in seconds. Defaults of slow memory: the bandwidths
// with which AutoTM (ASPLOS 2020) moved tensors from and to Optane, and that memory's latency.
struct Tier {
  double read = 29e9, write = 12e9;
  double latency = 300e-9;
  double fast = 100e9;  // of fast memory, read and written: six channels of DDR4
};

// Measured: how many times its time an operator takes with all its operands in slow memory, by its name.
struct KernelTable {
  std::string file;  // empty: there is none
  std::map<std::string, double> factors;

  // CSV (name, factor; a first line with other words is a heading) or a JSON object {name: factor}. Throws
  // Unusable, with the place and the remedy.
  static KernelTable read(const std::string& file);
};

class Costs {
 public:
  Costs(const Tier& tier, const KernelTable& table) : tier_(tier), table_(table) {}

  // Seconds that the operator takes longer with this operand in slow memory; those of several operands add
  // up. Measured: the operator's extra time, shared out by bytes. Else modelled: what is read and written
  // takes its bytes over the slow instead of the fast bandwidth, and each operand the latency; a view,
  // nothing.
  double operand(const memory::Step& step, const memory::Operator& op, const memory::Operand& operand) const;

  // Seconds of a move of a block between operators.
  double move_to_fast(std::uint64_t bytes) const;
  double move_to_slow(std::uint64_t bytes) const;

 private:
  const Tier& tier_;
  const KernelTable& table_;
};

}  // namespace lotus::analyzer::memory_plan
