#include "answers/controlflow/branch_sides.hpp"

#include <algorithm>
#include <utility>

namespace lotus::analyzer::controlflow {

BranchSides::BranchSides(const Region& region, const DataFlow& flow, const Times& times)
    : region_(region), flow_(flow), times_(times) {
  for (const Activation& activation : region.activations) gaps_.emplace_back(activation.events.size() + 1);
  for (const Gap& gap : times.gaps)
    if (gap.activation != Gap::kNobody) gaps_[gap.activation][gap.before].add(gap.parts);
}

void BranchSides::begin(std::size_t activation, const CodeFlow& flow) {
  activation_ = activation;
  code_ = &flow;
  open_.clear();
}

BranchSides::Range BranchSides::operators_in(const Event& event) const {
  if (!event.is_call) return {event.index, event.index + 1};
  const auto& all = region_.operators;
  const auto first =
      std::lower_bound(all.begin(), all.end(), event.begin,
                       [](const Operator& at, std::uint64_t ticks) { return at.end <= ticks; });
  const auto last = std::upper_bound(first, all.end(), event.end,
                                     [](std::uint64_t ticks, const Operator& at) { return ticks < at.end; });
  return {static_cast<std::size_t>(first - all.begin()), static_cast<std::size_t>(last - all.begin())};
}

std::size_t BranchSides::ends_in_control(const Visit& visit) const {
  const auto [first, last] = operators_in(region_.activations[activation_].events[visit.last - 1]);
  if (first == last || flow_.serves()[last - 1] != last - 1) return DataFlow::kNobody;
  return last - 1;
}

std::size_t BranchSides::waited_for(const Visit* before, std::size_t test) const {
  if (before == nullptr) return DataFlow::kNobody;
  // What an inner loop extracts is for that loop: a test behind it may ask for anything.
  const std::size_t extracted_in = code_->loop_at(before->instruction);
  std::size_t loop = code_->loop_at(test);
  while (loop != extracted_in && loop != kNone) loop = code_->loops()[loop].parent;
  return loop == extracted_in ? ends_in_control(*before) : DataFlow::kNobody;
}

// Sides end where the other one would come, too, and with the iteration.
void BranchSides::close(std::size_t from, std::size_t to) {
  std::erase_if(open_, [&](const Side& side) {
    if (to == side.join) return true;
    const std::size_t loop = code_->loop_at(side.test);
    if (loop == kNone || to >= code_->code().size()) return false;
    return to == code_->loops()[loop].body ||
           (to == code_->loops()[loop].header && (from >= code_->code().size() || code_->is_back(from, to)));
  });
}

void BranchSides::follow(std::size_t from, const Way& way, std::size_t to, const Visit* before) {
  const std::size_t event = before != nullptr ? before->last : 0;
  const Parts& gap = gaps_[activation_][event];
  const double share = 1.0 / static_cast<double>(way.steps.size() + 1);
  auto test = way.tests.begin();
  const auto pass = [&](std::size_t at) {
    if (test == way.tests.end() || test->first != at) return;
    const bool is_first = test == way.tests.begin();
    const auto [instruction, side] = *test++;
    const std::size_t extraction = is_first ? waited_for(before, instruction) : DataFlow::kNobody;
    if (code_->is_loop_test(instruction)) {
      if (extraction != DataFlow::kNobody) add_loop_test(instruction, extraction);
      return;
    }
    Branch& branch = branches_[{ConstructKind::branch, region_.activations[activation_].code, instruction}];
    if (extraction != DataFlow::kNobody) branch.extractions.push_back(extraction);
    const std::size_t join = code_->join_of(instruction);
    branch.joins = join != CodeFlow::kExit;
    if (side != 0) open_.push_back({&branch, instruction, join, side > 0});
  };
  std::size_t last = from;
  if (from != CodeFlow::kEntry) pass(from);
  for (const std::size_t at : way.steps) {
    for (const Side& side : open_) side.parts().add(gap, share);
    close(last, at);
    pass(at);
    last = at;
  }
  for (const Side& side : open_) side.parts().add(gap, share);
  close(last, to);
}

void BranchSides::visit(const Visit& visit) {
  const Activation& activation = region_.activations[activation_];
  for (std::size_t e = visit.first; e < visit.last; ++e) {
    const Event& event = activation.events[e];
    Parts parts;
    if (!event.is_call)
      parts = times_.operators[event.index];
    else if (region_.activations[event.index].stretches.front().begin == event.begin)
      parts = times_.activations[event.index];
    if (e > visit.first) parts.add(gaps_[activation_][e]);
    for (const Side& side : open_) {
      side.parts().add(parts);
      side.branch->operators.push_back(operators_in(event));
    }
  }
}

void BranchSides::add_loop_test(std::size_t test, std::size_t waited_for) {
  const std::vector<Loop>& loops = code_->loops();
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (loops[l].line == code_->line(test))
      return loop_tests_[{ConstructKind::loop, region_.activations[activation_].code, l}].push_back(
          waited_for);
}

Parts BranchSides::test_of(const std::vector<std::size_t>& extractions) const {
  Parts test;
  std::vector<bool> asked(region_.operators.size(), false);
  for (const std::size_t extraction : extractions) asked[extraction] = true;
  const auto serves = [&](std::size_t number) {
    const std::size_t whom = flow_.serves()[number];
    return whom != DataFlow::kNobody && asked[whom];
  };
  for (std::size_t i = 0; i < region_.operators.size(); ++i)
    if (serves(i)) test.add(times_.operators[i]);
  for (std::size_t a = 0; a < region_.activations.size(); ++a) {
    const std::vector<Event>& events = region_.activations[a].events;
    for (std::size_t e = 0; e < events.size(); ++e)
      if (!events[e].is_call && serves(events[e].index)) test.add(gaps_[a][e]);
  }
  return test;
}

// Construct::leads, with the functions that do nothing else, and Construct::needed.
void BranchSides::add_decision(const Branch& branch, Construct& construct) const {
  const std::size_t count = region_.operators.size();
  std::vector<bool> on_sides(count, false), asked(count, false);
  for (const auto& [first, last] : branch.operators)
    std::fill(on_sides.begin() + static_cast<std::ptrdiff_t>(first),
              on_sides.begin() + static_cast<std::ptrdiff_t>(last), true);
  for (const std::size_t extraction : branch.extractions) asked[extraction] = true;
  const std::vector<bool> leads = flow_.reaching(asked), serves_sides = flow_.reaching(on_sides);
  const auto work = [&](std::size_t i) {
    return Work(region_.operators[i].hook, region_.operators[i].place);
  };
  std::vector<bool> decides(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const bool needed = on_sides[i] || serves_sides[i];
    decides[i] = (asked[i] || leads[i]) && !needed;
    if (needed && leads[i]) construct.needed.insert(work(i));
  }
  // Of each activation: operators in it and in what it calls, and how many of them decide.
  std::vector<std::pair<std::size_t, std::size_t>> within(region_.activations.size(), {0, 0});
  std::vector<std::size_t> first(region_.activations.size(),
                                 kNone);  // an operator in it, or in what it calls
  for (std::size_t i = 0; i < count; ++i)
    if (const std::size_t in = region_.operators[i].activation; in != Activation::kNobody) {
      ++within[in].first;
      within[in].second += decides[i] ? 1 : 0;
      first[in] = std::min(first[in], i);
    }
  for (std::size_t a = within.size(); a-- > 0;)
    if (const std::size_t caller = region_.activations[a].caller; caller != Activation::kNobody) {
      within[caller].first += within[a].first;
      within[caller].second += within[a].second;
      first[caller] = std::min(first[caller], first[a]);
    }
  const auto only_decides = [&](std::size_t a) {
    return within[a].first > 0 && within[a].first == within[a].second;
  };
  for (std::size_t i = 0; i < count; ++i)
    if (decides[i]) construct.leads[work(i)].add(times_.operators[i]);
  for (std::size_t a = 0; a < region_.activations.size(); ++a) {
    const std::vector<Event>& events = region_.activations[a].events;
    for (std::size_t e = 0; e <= events.size(); ++e) {
      std::size_t behind = kNone;  // an operator for which this time passed
      if (e < events.size() && !events[e].is_call && decides[events[e].index])
        behind = events[e].index;
      else if (e < events.size() && events[e].is_call && only_decides(events[e].index))
        behind = first[events[e].index];
      else if (only_decides(a))
        behind = first[a];
      if (behind != kNone) construct.leads[work(behind)].add(gaps_[a][e]);
    }
  }
}

void BranchSides::settle(Constructs& constructs) const {
  for (const auto& [key, extractions] : loop_tests_) constructs.all[key].test.add(test_of(extractions));
  for (const auto& [key, branch] : branches_) {
    Construct& construct = constructs.all[key];
    construct.taken_time.add(branch.taken);
    construct.not_taken_time.add(branch.not_taken);
    construct.joins = branch.joins;
    if (branch.extractions.empty()) continue;
    construct.test.add(test_of(branch.extractions));
    if (branch.joins) add_decision(branch, construct);
  }
}

}  // namespace lotus::analyzer::controlflow
