#include "answers/controlflow/constructs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "answers/controlflow/branch_sides.hpp"
#include "answers/controlflow/contexts.hpp"
#include "answers/controlflow/early_tests.hpp"
#include "answers/controlflow/recursions.hpp"
#include "answers/controlflow/visits.hpp"

namespace lotus::analyzer::controlflow {
namespace {

// Which loop a gap's time belongs to, in shares.
using Shares = std::vector<std::pair<std::size_t, double>>;  // number of a loop, or kNone

class Walk {
 public:
  Walk(const Region& region, const Codes& codes, const DataFlow& flow, const Times& times,
       Constructs& constructs)
      : region_(region),
        codes_(codes),
        times_(times),
        constructs_(constructs),
        sides_(region, flow, times),
        early_(region, flow),
        recursions_(region, codes) {}

  void run() {
    enter_activations();
    for (std::size_t i = 0; i < region_.activations.size(); ++i) walk(i);
    spread_gaps();
    spread_operators();
    recursions_.count(constructs_);
    sum_contexts();
    sides_.settle(constructs_);
    settle_doubts();
    std::erase_if(constructs_.all, [&](const auto& one) {
      return one.first.kind == ConstructKind::loop && codes_.is_around(one.first.code, one.first.at);
    });
  }

 private:
  ConstructKey loop_key(std::size_t activation, std::size_t loop) const {
    return {ConstructKind::loop, region_.activations[activation].code, loop};
  }
  const CodeFlow* flow_of(std::size_t activation) const {
    return codes_.find(region_.activations[activation].code);
  }
  std::size_t instruction_of(std::size_t activation, const Event& event) const {
    const CodeFlow* flow = flow_of(activation);
    return flow != nullptr ? flow->doer_at(event.offset) : kNone;
  }

  // In an activation's context, in a loop of its own and those around it.
  std::size_t in_loop(std::size_t activation, std::size_t loop) {
    const std::size_t around = contexts_of_[activation];
    if (loop == kNone) return around;
    const std::size_t outer = in_loop(activation, flow_of(activation)->loops()[loop].parent);
    if (codes_.is_around(region_.activations[activation].code, loop)) return outer;
    return contexts_.entered(outer, loop_key(activation, loop));
  }

  void enter_activations() {
    contexts_of_.assign(region_.activations.size(), Contexts::kOutside);
    std::vector<std::size_t> called_in(region_.activations.size(), Contexts::kOutside);
    for (std::size_t i = 0; i < region_.activations.size(); ++i) {
      const Activation& activation = region_.activations[i];
      contexts_of_[i] = called_in[i];
      if (recursions_.contains(activation.code))
        contexts_of_[i] = contexts_.entered(called_in[i], Recursions::key(activation.code));
      for (const Event& event : activation.events) {
        if (!event.is_call || event.index <= i) continue;
        const std::size_t at = instruction_of(i, event);
        called_in[event.index] = in_loop(i, at != kNone ? flow_of(i)->loop_at(at) : kNone);
      }
    }
  }

  // Follows an activation through its code.
  void walk(std::size_t index) {
    const Activation& activation = region_.activations[index];
    const CodeFlow* flow = flow_of(index);
    if (flow == nullptr) return;
    const std::vector<Visit> visits = visits_of(region_, activation, *flow);
    sides_.begin(index, *flow);
    early_.begin(*flow);
    std::size_t from = CodeFlow::kEntry;
    for (std::size_t v = 0; v < visits.size(); ++v) {
      const bool known_start = v > 0 || !activation.before;
      if (known_start) follow(index, *flow, from, visits[v].instruction, v > 0 ? &visits[v - 1] : nullptr);
      sides_.visit(visits[v]);
      if (visits[v].told_by_period) {
        const Way& around = flow->way(visits[v].instruction, visits[v].instruction);
        doubt(index, around.passed_loops, around.passed_tests);
      }
      from = visits[v].instruction;
    }
    if (activation.ended && !(activation.before && visits.empty()))
      follow(index, *flow, from, CodeFlow::kExit, visits.empty() ? nullptr : &visits.back());
    else
      cut(index, *flow, from);
    sides_.end();
  }

  Construct& construct(const ConstructKey& key) { return constructs_.all[key]; }

  void doubt(std::size_t index, const std::vector<std::size_t>& loops,
             const std::vector<std::size_t>& tests) {
    for (const std::size_t loop : loops) doubted_.insert(loop_key(index, loop));
    for (const std::size_t test : tests)
      doubted_.insert({ConstructKind::branch, region_.activations[index].code, test});
  }

  // Which of several suspended calls of a function was resumed is not recorded.
  void doubt_mixed() {
    std::map<std::uint64_t, std::pair<std::size_t, bool>> calls;  // how many; whether any was resumed
    for (const Activation& activation : region_.activations) {
      auto& [count, resumed] = calls[activation.code];
      ++count;
      resumed = resumed || activation.stretches.size() > 1;
    }
    for (const auto& [code, found] : calls)
      if (found.first > 1 && found.second) mixed_.insert(code);
  }

  // A loop of which nothing is counted but may have been is told; a branch is not, as it has no time.
  void settle_doubts() {
    doubt_mixed();
    for (const ConstructKey& key : doubted_)
      if (key.kind == ConstructKind::loop)
        construct(key).exact = false;
      else
        constructs_.doubted.insert(key);
    for (auto& [key, counted] : constructs_.all)
      if (mixed_.contains(key.code) && key.kind != ConstructKind::recursion) counted.exact = false;
  }

  // The region ended inside of it: its loops' last iterations are not complete.
  void cut(std::size_t index, const CodeFlow& flow, std::size_t at) {
    if (at == CodeFlow::kEntry) return;
    for (std::size_t loop = flow.loop_at(at); loop != kNone; loop = flow.loops()[loop].parent)
      if (flow.loops()[loop].tests_first) ++construct(loop_key(index, loop)).iterations;
  }

  void follow(std::size_t index, const CodeFlow& flow, std::size_t from, std::size_t to,
              const Visit* before) {
    const Way& way = flow.way(from, to);
    if (!way.found) {
      for (std::size_t l = 0; l < flow.loops().size(); ++l) doubt(index, {l}, {});
      return;
    }
    count_early_tests(index, flow, way, before);
    const Activation& activation = region_.activations[index];
    const std::uint64_t ticks =
        before != nullptr ? activation.events[before->last - 1].end : activation.stretches.front().begin;
    std::size_t at = from;
    const auto step = [&](std::size_t next) {
      count_loops(index, flow, at, next, ticks);
      at = next;
    };
    for (const std::size_t next : way.steps) step(next);
    if (to != CodeFlow::kExit)
      step(to);
    else
      step(flow.code().size());
    count_tests(index, flow, way, before);
    doubt(index, way.doubted_loops, way.doubted_tests);
    sides_.follow(from, way, to, before);
  }

  void count_loops(std::size_t index, const CodeFlow& flow, std::size_t from, std::size_t to,
                   std::uint64_t ticks) {
    for (std::size_t l = 0; l < flow.loops().size(); ++l) {
      const LoopStep step = flow.loop_step(l, from, to);
      if (step.entries + step.iterations == 0) continue;
      early_.step(l, step, ticks);
      Construct& counted = construct(loop_key(index, l));
      counted.entries += step.entries;
      counted.iterations += step.iterations;
    }
  }

  // The first test on a way is the one that waits for what was extracted before it.
  void count_early_tests(std::size_t index, const CodeFlow& flow, const Way& way, const Visit* before) {
    if (way.tests.empty()) return;
    const std::size_t test = way.tests.front().first, extraction = sides_.waited_for(before, test);
    if (extraction == DataFlow::kNobody || flow.is_loop_test(test)) return;
    Construct& branch = construct({ConstructKind::branch, region_.activations[index].code, test});
    ++(early_.is_early(flow.loop_at(test), extraction) ? branch.early_tests : branch.late_tests);
  }

  void count_tests(std::size_t index, const CodeFlow& flow, const Way& way, const Visit* before) {
    bool after_control =
        !way.tests.empty() && sides_.waited_for(before, way.tests.front().first) != DataFlow::kNobody;
    for (const auto& [test, side] : way.tests) {
      if (flow.is_loop_test(test)) {
        for (std::size_t l = 0; l < flow.loops().size(); ++l)
          if (after_control && flow.loops()[l].line == flow.line(test)) {
            Construct& loop = construct(loop_key(index, l));
            loop.data_dependent = true;
            loop.tested_in.insert(loop_key(index, l));
          }
      } else {
        Construct& branch = construct({ConstructKind::branch, region_.activations[index].code, test});
        ++(side > 0 ? branch.taken : side < 0 ? branch.not_taken : branch.unknown);
        const Contexts::Context& context = contexts_.at(in_loop(index, flow.loop_at(test)));
        if (after_control && !context.open.empty()) branch.tested_in.insert(context.innermost);
        branch.data_dependent = branch.data_dependent || after_control;
      }
      after_control = false;
    }
  }

  // The innermost loops on the way, in shares; a loop of which only its beginning is passed has all: what it
  // does is not seen.
  Shares shares_of(std::size_t index, const CodeFlow& flow, std::size_t from, std::size_t to, bool& unseen) {
    const auto innermost = [&](std::size_t at) { return at < flow.code().size() ? flow.loop_at(at) : kNone; };
    const Way& way = flow.way(from, to);
    if (!way.found) return {{from < flow.code().size() ? innermost(from) : kNone, 1.0}};
    std::map<std::size_t, std::size_t> counts;
    if (from < flow.code().size()) ++counts[innermost(from)];
    for (const std::size_t at : way.steps) {
      for (std::size_t l = 0; l < flow.loops().size(); ++l) {
        const Loop& loop = flow.loops()[l];
        const bool passed = (loop.body == kNone ? loop.header : loop.body) == at &&
                            !(from < flow.code().size() && loop.inside[from]) &&
                            !(to < flow.code().size() && loop.inside[to]);
        if (!passed) continue;
        unseen = true;
        construct(loop_key(index, l)).unseen = true;
        return {{l, 1.0}};
      }
      ++counts[innermost(at)];
    }
    if (counts.empty()) ++counts[innermost(to)];
    std::size_t all = 0;
    for (const auto& [loop, count] : counts) all += count;
    Shares shares;
    for (const auto& [loop, count] : counts)
      shares.emplace_back(loop, static_cast<double>(count) / static_cast<double>(all));
    return shares;
  }

  void spread_gaps() {
    for (const Gap& gap : times_.gaps) {
      if (gap.activation == Gap::kNobody) {
        contexts_.at(Contexts::kOutside).parts.add(gap.parts);
        continue;
      }
      const CodeFlow* flow = flow_of(gap.activation);
      const Activation& activation = region_.activations[gap.activation];
      Shares shares{{kNone, 1.0}};
      if (flow != nullptr) {
        std::size_t from = CodeFlow::kEntry, to = CodeFlow::kExit;
        for (std::size_t e = gap.before; e-- > 0 && from == CodeFlow::kEntry;)
          if (const std::size_t at = instruction_of(gap.activation, activation.events[e]); at != kNone)
            from = at;
        if (gap.before < activation.events.size())
          if (const std::size_t at = instruction_of(gap.activation, activation.events[gap.before]);
              at != kNone)
            to = at;
        if (from == to)  // in one instruction, or once around
          shares = {{flow->loop_at(from), 1.0}};
        else if (from == CodeFlow::kEntry && activation.before)
          shares = {{to < flow->code().size() ? flow->loop_at(to) : kNone, 1.0}};
        else
          shares = known_shares(gap.activation, *flow, from, to);
      }
      for (const auto& [loop, share] : shares)
        contexts_.at(in_loop(gap.activation, loop)).parts.add(gap.parts, share);
      recursions_.add_by_depth(gap.activation, gap.parts, constructs_);
    }
  }

  const Shares& known_shares(std::size_t index, const CodeFlow& flow, std::size_t from, std::size_t to) {
    const auto [known, fresh] = shares_.try_emplace({region_.activations[index].code, from, to}, Shares{});
    bool unseen = false;
    if (fresh) known->second = shares_of(index, flow, from, to, unseen);
    return known->second;
  }

  void spread_operators() {
    for (std::size_t i = 0; i < region_.operators.size(); ++i) {
      const std::size_t index = region_.operators[i].activation;
      std::size_t context = Contexts::kOutside;
      if (index != Activation::kNobody) {
        const CodeFlow* flow = flow_of(index);
        const std::size_t at = instruction_of_operator(i);
        context = in_loop(index, flow != nullptr && at != kNone ? flow->loop_at(at) : kNone);
        recursions_.add_by_depth(index, times_.operators[i], constructs_);
      }
      contexts_.at(context).parts.add(times_.operators[i]);
      ++contexts_.at(context).operators;
    }
  }

  std::size_t instruction_of_operator(std::size_t number) const {
    const Operator& at = region_.operators[number];
    const auto place = region_.process->places.find(at.place);
    const CodeFlow* flow = flow_of(at.activation);
    if (flow == nullptr || place == region_.process->places.end()) return kNone;
    if (place->second.code != region_.activations[at.activation].code) return kNone;
    return flow->doer_at(place->second.offset);
  }

  void sum_contexts() {
    const bool bound = region_.calls_missing || !region_.calls_seen || !region_.is_whole();
    for (const Contexts::Context& context : contexts_.all()) {
      (context.open.empty() ? constructs_.outside : construct(context.innermost).own).add(context.parts);
      for (const ConstructKey& key : context.open) {
        construct(key).within.add(context.parts);
        construct(key).operators += context.operators;
      }
    }
    if (bound)
      for (auto& [key, counted] : constructs_.all) counted.lower_bound = true;
  }

  const Region& region_;
  const Codes& codes_;
  const Times& times_;
  Constructs& constructs_;
  BranchSides sides_;
  EarlyTests early_;
  Contexts contexts_;
  Recursions recursions_;
  std::vector<std::size_t> contexts_of_;
  std::set<std::uint64_t> mixed_;
  std::set<ConstructKey> doubted_;
  std::map<std::tuple<std::uint64_t, std::size_t, std::size_t>, Shares> shares_;
};

}  // namespace

void add_constructs(const Region& region, const Codes& codes, const DataFlow& flow, const Times& times,
                    Constructs& constructs) {
  Walk(region, codes, flow, times, constructs).run();
}

}  // namespace lotus::analyzer::controlflow
