// Storages by the operator that made them and the line that called it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "answers/memory/recorded_step.hpp"
#include "answers/memory/source.hpp"

namespace lotus::analyzer::memory {

struct Group {
  std::string op;  // empty: not known
  SourceLine source;
  SourceLine forward;  // made in the backward pass of what this line called; empty: it was not, or not known
  Role role = Role::older;
  bool older = false;         // some of it was there when the step began
  std::string form;           // of the largest one; empty: not known
  std::uint64_t largest = 0;  // bytes of it
  std::uint64_t bytes = 0;
  std::uint64_t storages = 0;  // 0: not known
  std::uint64_t between = 0;   // of them lie between two operators of the forward pass
  double byte_seconds = 0;     // of those held longer than used: bytes times the time after the last use
};

// "model.py:41", "backward of model.py:41".
std::string made_at(const Group& group);

class Groups {
 public:
  void add(const RecordedStep& step, std::size_t storage, double byte_seconds = 0);
  // What outlived an earlier step, and this one does not use.
  void add_kept(const RecordedStep& step, const Kept& kept);

  bool empty() const { return by_key_.empty(); }
  using Key = std::tuple<std::string, SourceLine, SourceLine, Role>;
  static Key key_of(const Group& group) { return {group.op, group.source, group.forward, group.role}; }
  const std::map<Key, Group>& all() const { return by_key_; }
  std::vector<Group> largest_first() const;

 private:
  Group& group_of(Key key, const std::string& form, std::uint64_t bytes);

  std::map<Key, Group> by_key_;
};

}  // namespace lotus::analyzer::memory
