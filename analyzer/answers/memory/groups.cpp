#include "answers/memory/groups.hpp"

#include <algorithm>
#include <utility>

namespace lotus::analyzer::memory {
namespace {

// No variable of the program needs to hold it.
bool is_between(const Storage& storage, const Life& life) {
  return life.role == Role::activation && storage.uses.size() > 1;
}

}  // namespace

std::string made_at(const Group& group) {
  return group.forward.empty() ? source_text(group.source) : "backward of " + source_text(group.forward);
}

Group& Groups::group_of(Key key, const std::string& form, std::uint64_t bytes) {
  Group& group = by_key_[key];
  if (group.storages == 0 || bytes > group.largest) {
    group.form = form;
    group.largest = bytes;
  }
  std::tie(group.op, group.source, group.forward, group.role) = std::move(key);
  group.bytes += bytes;
  ++group.storages;
  return group;
}

void Groups::add(const RecordedStep& step, std::size_t storage, double byte_seconds) {
  const Storage& one = step.step.storages[storage];
  const Life& life = step.lives[storage];
  const Process& process = *step.process;
  Group& group =
      group_of({life.made_by, source_of(process, one.place), source_of(process, one.forward), life.role},
               life.form, one.bytes);
  group.older = group.older || one.older;
  group.byte_seconds += byte_seconds;
  group.between += is_between(one, life) ? 1 : 0;
}

void Groups::add_kept(const RecordedStep& step, const Kept& kept) {
  const Process& process = *step.process;
  group_of({kept.made_by, source_of(process, kept.place), source_of(process, kept.forward), Role::untouched},
           kept.form, kept.bytes)
      .older = true;
}

std::vector<Group> Groups::largest_first() const {
  std::vector<Group> groups;
  groups.reserve(by_key_.size());
  for (const auto& [key, group] : by_key_) groups.push_back(group);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  return groups;
}

}  // namespace lotus::analyzer::memory
