#include "answers/controlflow/region_builder.hpp"

#include <algorithm>
#include <utility>

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::size_t kMostFrames = 1024;  // a damaged trace may have circles
constexpr std::size_t kMostSuspended = 64;

}  // namespace

RegionBuilder::RegionBuilder(const Process& process, bool is_step, std::uint64_t number, std::uint64_t ticks)
    : last_(ticks) {
  region_.process = &process;
  region_.is_step = is_step;
  region_.number = number;
  region_.begin = ticks;
}

// Innermost first.
std::vector<RegionBuilder::At> RegionBuilder::chain_of(std::uint64_t place) const {
  std::vector<At> chain;
  while (place != 0 && chain.size() < kMostFrames) {
    const auto at = region_.process->places.find(place);
    if (at == region_.process->places.end()) break;
    chain.push_back({at->second.code, at->second.offset});
    place = at->second.parent;
  }
  return chain;
}

std::size_t RegionBuilder::push(std::uint64_t code, std::uint64_t offset, std::uint64_t ticks,
                                bool inferred) {
  const std::size_t index = region_.activations.size();
  Activation made;
  made.code = code;
  made.inferred = inferred;
  made.before = inferred && stack_.empty();
  made.stretches.push_back({ticks, ticks, 0});
  if (!stack_.empty()) {
    made.caller = stack_.back();
    region_.activations[stack_.back()].events.push_back({true, offset, index, ticks, ticks});
  }
  region_.activations.push_back(std::move(made));
  stack_.push_back(index);
  return index;
}

// Of several generators of one code, the one that was suspended last, unless all have ended.
std::size_t RegionBuilder::resume(std::uint64_t code, std::uint64_t offset, std::uint64_t ticks) {
  const auto found = suspended_.find(code);
  if (found == suspended_.end() || found->second.empty()) return push(code, offset, ticks, false);
  const std::size_t index = found->second.back();
  found->second.pop_back();
  Activation& again = region_.activations[index];
  again.ended = false;
  again.stretches.push_back({ticks, ticks, again.events.size()});
  if (!stack_.empty())
    region_.activations[stack_.back()].events.push_back({true, offset, index, ticks, ticks});
  stack_.push_back(index);
  return index;
}

void RegionBuilder::pop(std::uint64_t ticks) {
  const std::size_t index = stack_.back();
  stack_.pop_back();
  Activation& left = region_.activations[index];
  left.ended = true;
  left.stretches.back().end = ticks;
  if (stack_.empty()) return;
  std::vector<Event>& events = region_.activations[stack_.back()].events;
  for (std::size_t i = events.size(); i-- > 0;)
    if (events[i].is_call && events[i].index == index) {
      events[i].end = ticks;
      return;
    }
}

std::size_t RegionBuilder::explicit_top() const {
  for (std::size_t i = stack_.size(); i-- > 0;)
    if (!region_.activations[stack_[i]].inferred) return i;
  return Activation::kNobody;
}

void RegionBuilder::pop_inferred(std::uint64_t ticks) {
  while (!stack_.empty() && region_.activations[stack_.back()].inferred) pop(ticks);
}

// The activation that a place lies in, with those between it and what is known to be open; `offset`: of the
// place. Places of a recursion do not tell its depth, so only what the innermost known activation called
// counts.
std::size_t RegionBuilder::attach(std::uint64_t place, std::uint64_t begin, std::uint64_t& offset) {
  offset = Event::kNoOffset;
  std::vector<At> chain = chain_of(place);
  const std::size_t known = explicit_top();
  if (chain.empty()) {
    pop_inferred(last_);
    return stack_.empty() ? Activation::kNobody : stack_.back();
  }
  if (known != Activation::kNobody) {
    const std::uint64_t code = region_.activations[stack_[known]].code;
    const auto own = std::find_if(chain.begin(), chain.end(), [&](const At& at) { return at.code == code; });
    if (own == chain.end()) {  // as in a callback of another thread of control
      pop_inferred(last_);
      return stack_.back();
    }
    chain.erase(std::next(own), chain.end());
  }
  // `chain` begins, at its end, with the known activation, or with the outermost frame.
  std::size_t level = known == Activation::kNobody ? 0 : known;
  for (std::size_t i = chain.size(); i-- > 0; ++level) {
    const bool same = level < stack_.size() && region_.activations[stack_[level]].code == chain[i].code;
    if (!same) {
      while (stack_.size() > level) pop(last_);
      const std::uint64_t from = i + 1 < chain.size() ? chain[i + 1].offset : Event::kNoOffset;
      push(chain[i].code, from, stack_.empty() ? region_.begin : begin, true);
      continue;
    }
    // Another call of the same function: its caller has gone on, or it has begun anew itself.
    const Activation& caller = region_.activations[stack_[level]];
    const bool more = level + 1 < stack_.size();
    if (more && i > 0 && !caller.events.empty() && caller.events.back().offset != chain[i].offset)
      while (stack_.size() > level + 1) pop(last_);
  }
  while (stack_.size() > level) pop(last_);
  offset = chain.front().offset;
  return stack_.back();
}

void RegionBuilder::operator_ended(std::uint64_t hook, std::uint64_t place, std::uint64_t took,
                                   std::uint64_t nested, std::uint64_t ticks) {
  Operator made;
  made.nested = nested;
  made.hook = hook;
  made.begin = std::max(last_, ticks > took ? ticks - took : 0);
  made.end = std::max(made.begin, ticks);
  made.place = place;
  made.first = first_operand_;
  made.last = first_operand_ = region_.operands.size();
  std::uint64_t offset = 0;
  made.activation = attach(place, made.begin, offset);
  if (made.activation != Activation::kNobody)
    region_.activations[made.activation].events.push_back(
        {false, offset, region_.operators.size(), made.begin, made.end});
  region_.operators.push_back(made);
  last_ = made.end;
}

// Where what is open called the next one that was open when the region began.
std::uint64_t RegionBuilder::offset_in_caller(std::uint64_t place) {
  pop_inferred(last_);
  const auto at = region_.process->places.find(place);
  if (stack_.empty() || at == region_.process->places.end()) return Event::kNoOffset;
  return at->second.code == region_.activations[stack_.back()].code ? at->second.offset : Event::kNoOffset;
}

void RegionBuilder::call(std::uint64_t code, std::uint64_t place, std::uint64_t resumed,
                         std::uint64_t ticks) {
  constexpr std::uint64_t kResumed = 1, kBefore = 2;
  region_.calls_seen = true;
  ticks = std::max(ticks, last_);
  std::uint64_t offset = Event::kNoOffset;
  if (resumed == kBefore)
    offset = offset_in_caller(place);
  else if (place != 0)
    attach(place, ticks, offset);
  else if (explicit_top() != Activation::kNobody)
    pop_inferred(ticks);
  const std::size_t made = resumed == kResumed
                               ? resume(code, offset, ticks)
                               : push(code, offset, stack_.empty() ? region_.begin : ticks, false);
  region_.activations[made].before = resumed == kBefore;
  last_ = ticks;
}

void RegionBuilder::returned(std::uint64_t ticks) {
  if (explicit_top() == Activation::kNobody) return;
  ticks = std::max(ticks, last_);
  pop_inferred(last_);
  const std::size_t left = stack_.back();
  pop(ticks);
  std::vector<std::size_t>& suspended = suspended_[region_.activations[left].code];
  suspended.push_back(left);
  if (suspended.size() > kMostSuspended) suspended.erase(suspended.begin());
  last_ = ticks;
}

Region RegionBuilder::finish(std::uint64_t ticks, bool ended, std::uint64_t incomplete, std::uint64_t cost) {
  region_.end = std::max(ticks, last_);
  region_.ended = ended;
  region_.cut_short = region_.cut_short || (incomplete & 1) != 0;
  region_.calls_missing = (incomplete & 2) != 0;
  region_.only_timed = (incomplete & 4) != 0;
  region_.cost = cost;
  while (!stack_.empty()) {
    const std::size_t open = stack_.back();
    pop(region_.end);
    region_.activations[open].ended = false;
  }
  return std::move(region_);
}

}  // namespace lotus::analyzer::controlflow
