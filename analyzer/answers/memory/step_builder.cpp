#include "answers/memory/step_builder.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace lotus::analyzer::memory {

StepBuilder::StepBuilder(const Process& process, const ClockMap& clock, std::uint64_t number,
                         std::uint64_t ticks, std::uint64_t live, Survivors before)
    : process_(process), clock_(clock), before_(std::move(before)) {
  made_.process = &process;
  made_.step.number = number;
  made_.begin_ticks = ticks;
  made_.live_before = live;
}

double StepBuilder::seconds(std::uint64_t ticks) const {
  if (ticks <= made_.begin_ticks) return 0;
  return static_cast<double>(clock_.duration_ns(ticks - made_.begin_ticks)) / 1e9;
}

// The block that lives at an address; an older one if none was allocated there in this step.
std::size_t StepBuilder::block_of(std::uint64_t address, std::uint64_t bytes) {
  if (const auto found = at_.find(address); found != at_.end()) return found->second;
  Block block;
  block.address = address;
  block.bytes = bytes;
  block.older = true;
  block.born = made_.begin_ticks;
  if (const auto known = before_.find(address); known != before_.end()) {
    block.bytes = std::max(bytes, known->second.bytes);
    block.place = known->second.place;
    block.forward = known->second.forward;
    block.made_by = known->second.made_by;
    block.form = known->second.form;
    block.earlier = known->second.role;
  }
  // It may stand before blocks that the operator that runs now has made: those are told by their maker.
  blocks_.push_back(std::move(block));
  at_[address] = blocks_.size() - 1;
  return blocks_.size() - 1;
}

const Form& StepBuilder::form(std::uint64_t id) {
  const auto [known, is_new] = forms_.try_emplace(id);
  if (is_new) known->second = form_of(process_, id);
  return known->second;
}

void StepBuilder::operand(std::uint64_t use, std::uint64_t data, std::uint64_t bytes, std::uint64_t form_id) {
  const std::size_t block = block_of(data, bytes);
  // Of views of a storage, that which takes most of it tells what it is.
  if (const Form& of = form(form_id); of.bytes > blocks_[block].form_bytes && of.bytes <= bytes) {
    blocks_[block].form = of.text;
    blocks_[block].form_bytes = of.bytes;
  }
  pending_.push_back({block, use / 2, use % 2 == 1});
}

void StepBuilder::allocated(std::uint64_t address, std::uint64_t bytes, std::uint64_t place,
                            std::uint64_t ticks, bool for_batch) {
  Block block;
  block.address = address;
  block.bytes = bytes;
  block.place = place;
  block.born = ticks;
  block.born_at = made_.step.operators.size();
  block.for_batch = for_batch;
  blocks_.push_back(std::move(block));
  at_[address] = blocks_.size() - 1;
}

void StepBuilder::released(std::uint64_t address, std::uint64_t bytes, std::uint64_t ticks) {
  const std::size_t index = block_of(address, bytes);
  blocks_[index].released = ticks;
  blocks_[index].released_at = made_.step.operators.size();
  released_since_.push_back(index);
  at_.erase(address);
}

// An operator ran from `begin` to now: what was made and released meanwhile was by it.
void StepBuilder::settle_blocks(std::uint64_t begin, std::size_t index, const Operator& made) {
  for (std::size_t i = unsettled_; i < blocks_.size(); ++i) {
    Block& block = blocks_[i];
    if (block.older || block.born < begin) continue;
    block.maker = index;
    block.made_by = made.name;
    block.place = made.place;
    block.forward = made.forward;
  }
  unsettled_ = blocks_.size();
  for (const std::size_t released : released_since_)
    if (blocks_[released].released >= begin) ++blocks_[released].released_at;
  released_since_.clear();
}

// Whether the operator only looks at its first argument in another way: all that it gives back is that
// argument's storage. One that changes an argument has a name that ends in _, by PyTorch's convention, or
// has what it writes to (out) behind its first argument.
bool StepBuilder::only_views(const Operator& made) const {
  if (!made.name.starts_with("aten::") || made.name.ends_with('_')) return false;
  bool any = false;
  for (const Pending& result : pending_) {
    if (!result.result) continue;
    bool first = false;
    for (const Pending& argument : pending_) {
      if (argument.result || argument.block != result.block) continue;
      if (argument.argument != 0) return false;
      first = true;
    }
    if (!first) return false;
    any = true;
  }
  return any;
}

void StepBuilder::add_operands(Operator& made) {
  const bool any_result =
      std::any_of(pending_.begin(), pending_.end(), [](const Pending& p) { return p.result; });
  // By PyTorch's convention, a function whose name ends in _ changes its first argument. Those that give
  // something back give that; those of lists (_foreach_add_) give nothing.
  const bool changes_first = !any_result && made.name.ends_with('_');
  const bool views = only_views(made);
  std::set<std::size_t> viewed;
  for (const Pending& pending : pending_)
    if (views && pending.result) viewed.insert(pending.block);
  for (const Pending& pending : pending_) {
    Block& block = blocks_[pending.block];
    if (block.uses.empty() || block.uses.back() != made_.step.operators.size()) {
      block.uses.push_back(made_.step.operators.size());
      block.operand = made.operands.size();
      made.operands.emplace_back().storage = pending.block;
    }
    if (viewed.contains(pending.block)) continue;  // neither read nor written
    Operand& operand = made.operands[block.operand];
    operand.read = operand.read || !pending.result;
    operand.written = operand.written || pending.result || (changes_first && pending.argument == 0);
  }
  pending_.clear();
}

void StepBuilder::operator_ended(Operator made, std::uint64_t took, std::uint64_t ticks) {
  const std::uint64_t begin = std::max(made_.begin_ticks, ticks > took ? ticks - took : 0);
  settle_blocks(begin, made_.step.operators.size(), made);
  made.seconds = static_cast<double>(std::max<std::int64_t>(0, clock_.duration_ns(took))) / 1e9;
  add_operands(made);
  made_.step.operators.push_back(std::move(made));
  made_.begins_s.push_back(seconds(begin));
  made_.ends_s.push_back(seconds(ticks));
}

void StepBuilder::add_storage(const Block& block, std::uint64_t ticks) {
  const std::size_t operators = made_.step.operators.size();
  const bool stays = block.released == kNever;
  Storage storage;
  storage.bytes = block.bytes;
  storage.born = block.older ? 0 : block.born_at;
  storage.released = stays ? operators : block.released_at;
  storage.older = block.older;
  storage.survives = stays;
  if (block.maker != RecordedStep::kNone) storage.maker = block.maker;
  storage.place = block.place;
  storage.forward = block.forward;
  storage.uses = block.uses;
  made_.step.storages.push_back(std::move(storage));
  made_.lives.push_back({seconds(block.born), seconds(stays ? ticks : block.released), Role::older,
                         block.made_by, block.form, block.address});
}

// What only its maker used is no storage but workspace.
void StepBuilder::keep_blocks(std::uint64_t ticks) {
  for (Block& block : blocks_) {
    const bool temporary = !block.older && block.uses.empty() && block.maker != RecordedStep::kNone &&
                           block.released != kNever && block.released_at == block.maker + 1;
    if (temporary) {
      made_.temporaries.push_back({block.bytes, block.maker, seconds(block.born), seconds(block.released)});
      continue;
    }
    block.storage = made_.step.storages.size();
    add_storage(block, ticks);
  }
  for (Operator& made : made_.step.operators)
    for (Operand& operand : made.operands) operand.storage = blocks_[operand.storage].storage;
}

void StepBuilder::find_workspaces() {
  struct Change {
    std::size_t at;
    double seconds;
    std::uint64_t bytes;  // of what is less, too: modulo 2^64
  };
  std::vector<Change> changes;
  for (const Temporary& one : made_.temporaries) {
    changes.push_back({one.operator_index, one.born_s, one.bytes});
    changes.push_back({one.operator_index, one.released_s, 0 - one.bytes});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::pair(a.at, a.seconds) < std::pair(b.at, b.seconds);
  });
  std::uint64_t now = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i == 0 || changes[i].at != changes[i - 1].at) now = 0;
    now += changes[i].bytes;
    std::uint64_t& workspace = made_.step.operators[changes[i].at].workspace;
    if (now >> 63 == 0) workspace = std::max(workspace, now);
  }
}

namespace {
// A gradient that is kept is set to zero before the next backward pass.
bool sets_to_zero(const std::string& name) { return name.ends_with("zero_"); }
}  // namespace

Role StepBuilder::role_of_older(const Block& block) const {
  if (block.earlier == Role::gradient) return Role::gradient;
  bool optimized = false, computed_with = false, summed = false;
  for (const std::size_t use : block.uses) {
    const Operator& at = made_.step.operators[use];
    optimized = optimized || at.phase == Phase::optimizer;
    summed = summed || at.phase == Phase::backward;
    computed_with = computed_with || (at.phase == Phase::forward && !sets_to_zero(at.name));
  }
  if (!optimized) return Role::older;
  if (computed_with) return Role::parameter;
  return summed ? Role::gradient : Role::optimizer_state;
}

Role StepBuilder::role_of(const Block& block) const {
  if (block.older) return role_of_older(block);
  if (block.for_batch) return Role::batch;
  const std::vector<Operator>& operators = made_.step.operators;
  const std::size_t at = block.maker != RecordedStep::kNone ? block.maker : block.born_at;
  const Phase phase = at < operators.size() ? operators[at].phase : Phase::forward;
  if (phase == Phase::forward) return Role::activation;
  if (phase == Phase::optimizer) return block.released == kNever ? Role::optimizer_state : Role::optimizer;
  const bool optimized = std::any_of(block.uses.begin(), block.uses.end(), [&](std::size_t use) {
    return operators[use].phase == Phase::optimizer;
  });
  return optimized || block.released == kNever ? Role::gradient : Role::backward;
}

void StepBuilder::find_roles() {
  for (const Block& block : blocks_)
    if (block.storage != RecordedStep::kNone) made_.lives[block.storage].role = role_of(block);
}

void StepBuilder::keep_untouched() {
  std::set<std::uint64_t> touched;
  for (const Block& block : blocks_)
    if (block.older) touched.insert(block.address);
  for (const auto& [address, survivor] : before_)
    if (!touched.contains(address))
      made_.kept.push_back(
          {survivor.bytes, survivor.place, survivor.forward, survivor.made_by, survivor.form});
}

// Of what was there before, the step shows what it uses.
void StepBuilder::find_level() {
  made_.live_known = false;
  made_.live_before = 0;
  for (const Block& block : blocks_) made_.live_before += block.older ? block.bytes : 0;
}

// How much was in use when, by what was given out and taken back.
void StepBuilder::draw_live(std::uint64_t ticks) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> changes;  // of what is less, too: modulo 2^64
  for (const Block& block : blocks_) {
    if (!block.older) changes.emplace_back(block.born, block.bytes);
    if (block.released != kNever) changes.emplace_back(block.released, 0 - block.bytes);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::uint64_t now = made_.live_before;
  const auto in_use = [&] { return now >> 63 != 0 ? 0 : now; };  // less than nothing: records are missing
  made_.live.push_back({0, in_use()});
  made_.peak_bytes = in_use();
  for (const auto& [at, bytes] : changes) {
    now += bytes;
    made_.live.push_back({seconds(at), in_use()});
    if (in_use() <= made_.peak_bytes) continue;
    made_.peak_bytes = in_use();
    made_.peak_s = seconds(at);
  }
  made_.live.push_back({seconds(ticks), in_use()});
  const auto after = std::upper_bound(made_.ends_s.begin(), made_.ends_s.end(), made_.peak_s);
  if (after != made_.ends_s.end())
    made_.peak_operator = static_cast<std::size_t>(after - made_.ends_s.begin());
}

void StepBuilder::compare_levels() {
  if (!made_.is_whole() || !made_.live_known || made_.live_after == kNever) return;
  // A block may be larger than was asked for, by less than a page.
  std::int64_t rounding = 64 * 1024;
  for (const Storage& storage : made_.step.storages)
    if (storage.older != storage.survives) rounding += static_cast<std::int64_t>(kPage);
  const auto rest = static_cast<std::int64_t>(made_.live_after - made_.live.back().bytes);
  if (rest > rounding || rest < -rounding) made_.elsewhere = rest;
}

RecordedStep StepBuilder::finish(std::uint64_t ticks, std::optional<std::uint64_t> live, bool incomplete) {
  made_.seconds = seconds(ticks);
  made_.ended = live.has_value();
  made_.live_after = live.value_or(0);
  if (made_.live_before == kNever) find_level();
  made_.incomplete = incomplete;
  keep_blocks(ticks);
  find_workspaces();
  find_roles();
  draw_live(ticks);
  compare_levels();
  keep_untouched();
  // What was older already stays known, unless it was released.
  survivors_ = std::move(before_);
  for (const Block& block : blocks_)
    if (block.released != kNever) survivors_.erase(block.address);
  for (std::size_t i = 0; i < made_.step.storages.size(); ++i) {
    const Storage& storage = made_.step.storages[i];
    const Life& life = made_.lives[i];
    if (storage.survives && !storage.older)
      survivors_[life.address] = {storage.bytes, storage.place, storage.forward,
                                  life.role,     life.made_by,  life.form};
  }
  return std::move(made_);
}

}  // namespace lotus::analyzer::memory
