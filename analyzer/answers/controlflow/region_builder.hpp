// Makes a Region of its records.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "answers/controlflow/region.hpp"

namespace lotus::analyzer::controlflow {

// Takes the records in their order.
class RegionBuilder {
 public:
  RegionBuilder(const Process& process, bool is_step, std::uint64_t number, std::uint64_t ticks);

  void operand(const Operand& operand) { region_.operands.push_back(operand); }
  void operator_ended(std::uint64_t hook, std::uint64_t place, std::uint64_t took, std::uint64_t nested,
                      std::uint64_t ticks);
  void changed(std::uint64_t address, bool made) {
    region_.changes.push_back({address, made, region_.operands.size()});
  }
  // `resumed`: as in the record python_call.
  void call(std::uint64_t code, std::uint64_t place, std::uint64_t resumed, std::uint64_t ticks);
  void returned(std::uint64_t ticks);
  void lost() { region_.cut_short = true; }

  Region finish(std::uint64_t ticks, bool ended, std::uint64_t incomplete, std::uint64_t cost);

 private:
  struct At {
    std::uint64_t code, offset;
  };
  std::vector<At> chain_of(std::uint64_t place) const;
  std::size_t attach(std::uint64_t place, std::uint64_t begin, std::uint64_t& offset);
  std::size_t push(std::uint64_t code, std::uint64_t offset, std::uint64_t ticks, bool inferred);
  std::size_t resume(std::uint64_t code, std::uint64_t offset, std::uint64_t ticks);
  void pop(std::uint64_t ticks);
  void pop_inferred(std::uint64_t ticks);
  std::size_t explicit_top() const;
  std::uint64_t offset_in_caller(std::uint64_t place);

  Region region_;
  std::vector<std::size_t> stack_;  // of activations
  std::map<std::uint64_t, std::vector<std::size_t>>
      suspended_;  // by code: those that returned, the last one at the end
  std::size_t first_operand_ = 0;
  std::uint64_t last_ = 0;  // ticks at which the last operator or call ended
};

}  // namespace lotus::analyzer::controlflow
