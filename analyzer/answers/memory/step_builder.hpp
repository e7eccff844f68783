// Makes a RecordedStep of the records of one step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "answers/memory/recorded_step.hpp"
#include "answers/memory/tensor_form.hpp"
#include "reading/trace/clock_map.hpp"

namespace lotus::analyzer::memory {

// What is known of a block of memory that outlived an earlier step.
struct Survivor {
  std::uint64_t bytes = 0, place = 0, forward = 0;
  Role role = Role::older;
  std::string made_by, form;
};
// By address.
using Survivors = std::map<std::uint64_t, Survivor>;

// Takes the records in their order. Times in ticks.
class StepBuilder {
 public:
  // `before`: what outlived the step right before this one, empty where that was not recorded.
  StepBuilder(const Process& process, const ClockMap& clock, std::uint64_t number, std::uint64_t ticks,
              std::uint64_t live, Survivors before);

  void operand(std::uint64_t use, std::uint64_t data, std::uint64_t bytes, std::uint64_t form);
  // `made`: its name, phase and places.
  void operator_ended(Operator made, std::uint64_t took, std::uint64_t ticks);
  // `for_batch`: while the loader was asked for one.
  void allocated(std::uint64_t address, std::uint64_t bytes, std::uint64_t place, std::uint64_t ticks,
                 bool for_batch);
  void released(std::uint64_t address, std::uint64_t bytes, std::uint64_t ticks);

  // `live`: what the allocator had given out at the end; nothing: the step did not end.
  RecordedStep finish(std::uint64_t ticks, std::optional<std::uint64_t> live, bool incomplete);
  // What outlives the step, after finish().
  const Survivors& survivors() const { return survivors_; }

 private:
  struct Block {
    std::uint64_t address = 0, bytes = 0, place = 0, forward = 0;
    std::uint64_t born = 0, released = kNever;  // ticks
    std::size_t born_at = 0, released_at = 0;   // operators that had ended by then
    std::size_t maker = RecordedStep::kNone;    // the operator in which it was made
    bool older = false, for_batch = false;
    std::string made_by, form;     // form: of the tensor that takes most of it
    std::uint64_t form_bytes = 0;  // that this tensor takes
    Role earlier = Role::older;    // older: what it was in the step that made it, if that is known
    std::vector<std::size_t> uses;
    std::size_t operand = 0;  // its place among the operands of the operator that used it last
    std::size_t storage = RecordedStep::kNone;  // its number among the step's; none: it is a workspace
  };
  struct Pending {
    std::size_t block;
    std::uint64_t argument;
    bool result;
  };
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  double seconds(std::uint64_t ticks) const;
  std::size_t block_of(std::uint64_t address, std::uint64_t bytes);
  void settle_blocks(std::uint64_t begin, std::size_t index, const Operator& made);
  const Form& form(std::uint64_t id);
  bool only_views(const Operator& made) const;  // of the pending operands
  void add_operands(Operator& made);
  void keep_blocks(std::uint64_t ticks);
  void add_storage(const Block& block, std::uint64_t ticks);
  void keep_untouched();
  void find_level();
  void find_workspaces();
  Role role_of(const Block& block) const;
  Role role_of_older(const Block& block) const;
  void find_roles();
  void draw_live(std::uint64_t ticks);
  void compare_levels();

  const Process& process_;
  const ClockMap& clock_;
  RecordedStep made_;
  Survivors before_, survivors_;
  std::unordered_map<std::uint64_t, Form> forms_;
  std::vector<Block> blocks_;
  std::unordered_map<std::uint64_t, std::size_t> at_;  // address → the block that lives there now
  std::vector<Pending> pending_;                       // operands of the next operator
  std::size_t unsettled_ = 0;                // blocks from here on were made since the last operator ended
  std::vector<std::size_t> released_since_;  // … released since
};

}  // namespace lotus::analyzer::memory
