#include "answers/controlflow/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "answers/controlflow/same_codes.hpp"
#include "answers/controlflow/usual.hpp"
#include "answers/replay/torch_version.hpp"

namespace lotus::analyzer::controlflow {
namespace {

// Whose calls the region's are; of a step nobody's.
memory::SourceLine function_of(const Region& region) {
  for (const Activation& activation : region.activations) {
    if (region.is_step || activation.inferred) continue;
    const auto code = region.process->python_codes.find(activation.code);
    if (code == region.process->python_codes.end()) break;
    return {code->second.file, code->second.name, code->second.line};
  }
  return {};
}

std::string name_of(const Region& region, const memory::SourceLine& function) {
  if (region.is_step) return "training step";
  return function.function.empty() ? "region" : function.function;
}

constexpr double kMostRecording = 0.75;

// Python between two operators that follow each other in one function, by gap.
double typical_gap(const Region& region, const Times& times) {
  std::vector<double> direct;
  for (const Gap& gap : times.gaps) {
    if (gap.activation == Gap::kNobody || gap.before == 0) continue;
    const std::vector<Event>& events = region.activations[gap.activation].events;
    if (gap.before >= events.size() || events[gap.before].is_call || events[gap.before - 1].is_call) continue;
    direct.push_back(gap.parts.python);
  }
  if (direct.empty()) return 0;
  return median(std::move(direct));
}

void add_region(RegionAnswer& answer, const Region& region, const Codes& codes, double factor,
                Constructs& constructs) {
  const DataFlow flow(region);
  const Times times = times_of(region, flow, factor);
  add_constructs(region, codes, flow, times, constructs);
  const double share = 1.0 / static_cast<double>(answer.used);
  answer.parts.add(times.all, share);
  add_compiled(answer.compilation, region, times, share);
  const auto control = std::count(flow.control().begin(), flow.control().end(), true);
  const auto native = static_cast<double>(region.operators.size()) - static_cast<double>(control);
  answer.operators += share * static_cast<double>(region.operators.size());
  answer.control_operators += share * static_cast<double>(control);
  answer.python_calls += share * static_cast<double>(std::count_if(
                                     region.activations.begin(), region.activations.end(),
                                     [](const Activation& a) { return !a.inferred && !a.before; }));
  answer.straight_python += share * std::min(times.all.python, native * typical_gap(region, times));
  answer.lower_bound = answer.lower_bound || region.calls_missing || !region.is_whole();
  answer.calls_seen = answer.calls_seen && region.calls_seen;
  for (const Activation& activation : region.activations) {
    const auto code = region.process->python_codes.find(activation.code);
    // Newer versions say what they compiled; their optimizers call the compiler's code without compiling.
    if (code != region.process->python_codes.end() &&
        code->second.file.find("/torch/_dynamo/") != std::string::npos &&
        torch_version(region.process->torch) < kTellsOfCompiling)
      answer.compiled = true;
    answer.codes_known = answer.codes_known && (codes.is_machinery(activation.code) || activation.inferred ||
                                                codes.find(activation.code) != nullptr);
  }
}

// Of loops and recursions what is their own; of branches their tests.
double blame(const ConstructAnswer& construct) {
  const Parts& parts = construct.kind == ConstructKind::branch ? construct.sums.test : construct.sums.own;
  return parts.python + parts.control;
}

bool is_seen(const ConstructAnswer& construct) {
  const Construct& sums = construct.sums;
  switch (construct.kind) {
    case ConstructKind::loop:
      return sums.iterations > 0 || sums.unseen;
    case ConstructKind::branch:
      return sums.taken + sums.not_taken > 0 || (sums.unknown > 0 && sums.data_dependent);
    default:
      return true;
  }
}

ConstructAnswer told(const Process& process, const Codes& codes, const ConstructKey& key,
                     const Construct& sums) {
  ConstructAnswer construct{key.kind, key, {}, sums, false};
  if (const auto code = process.python_codes.find(key.code); code != process.python_codes.end())
    construct.source = {code->second.file, code->second.name, code->second.line};
  const CodeFlow* flow = codes.find(key.code);
  if (flow == nullptr) return construct;
  if (key.kind == ConstructKind::loop) {
    construct.source.line = flow->loops()[key.at].line;
    construct.is_for = flow->loops()[key.at].is_for;
  } else if (key.kind == ConstructKind::branch) {
    construct.source.line = flow->line(key.at);
  }
  return construct;
}

// Of a call, on average.
std::optional<double> waited_in(const Group& used) {
  double waited = 0;
  for (const Region* region : used) {
    if (!region->cpu_ns) return std::nullopt;
    waited += waited_ns(*region);
  }
  return waited / static_cast<double>(used.size());
}

// `group`: recorded calls of a function. `timed`: calls of it that were only timed.
RegionAnswer answer_of(const Group& group, const Group& timed) {
  const Region& first = *group.front();
  RegionAnswer answer;
  answer.process = first.process;
  answer.name = name_of(first, function_of(first));
  answer.is_step = first.is_step;
  answer.recorded = group.size();
  answer.incomplete = static_cast<std::uint64_t>(
      std::count_if(group.begin(), group.end(), [](const Region* region) { return !region->is_whole(); }));
  answer.timed = timed.size();
  if (!timed.empty()) {
    std::vector<double> walls;
    for (const Region* region : timed) walls.push_back(wall_ns(*region));
    answer.timed_ns = median(std::move(walls));
  }
  answer.compilation = compiled_of(group);
  const Group whole = eligible(group);
  const Group used = whole.empty() ? group : usual(whole);
  answer.used = used.size();
  answer.usual = std::all_of(used.begin(), used.end(), [](const Region* region) {
    return region->is_whole() && !has_compiled(*region);
  });
  answer.has_first =
      std::any_of(used.begin(), used.end(), [](const Region* region) { return region->number == 0; });
  answer.cost_known =
      first.cost > 0 || (first.process->lane_cost && first.process->lane_cost->operator_ps > 0);
  answer.waited_ns = waited_in(used);
  const Codes codes(*first.process, group);
  Constructs constructs;
  const double factor = recording_factor(whole, timed);
  for (const Region* region : used) add_region(answer, *region, codes, factor, constructs);
  // What of it fell into recording is not known.
  if (answer.waited_ns) answer.waited_ns = std::min(*answer.waited_ns, answer.parts.untraced());
  settle(answer.compilation, answer.used);
  answer.compiled = answer.compiled || answer.compilation.runs();
  std::set<memory::SourceLine> around;
  for (const auto& [code, loop] : codes.around())
    around.insert(told(*first.process, codes, {ConstructKind::loop, code, loop}, {}).source);
  answer.around.assign(around.begin(), around.end());
  answer.outside.add(constructs.outside, 1.0 / static_cast<double>(answer.used));
  for (const auto& [key, sums] : merged(*first.process, constructs))
    if (ConstructAnswer construct = told(*first.process, codes, key, sums); is_seen(construct))
      answer.constructs.push_back(std::move(construct));
  std::stable_sort(answer.constructs.begin(), answer.constructs.end(),
                   [](const ConstructAnswer& a, const ConstructAnswer& b) { return blame(a) > blame(b); });
  return answer;
}

// Of a process: several functions may have the name that was asked for.
struct Calls {
  std::map<memory::SourceLine, Group> recorded;
  Group timed;

  void add(const Region& region) {
    if (!region.only_timed)
      recorded[function_of(region)].push_back(&region);
    else if (region.ended)
      timed.push_back(&region);
  }
  // Calls whose function was not seen are of the only one that was.
  void name_unnamed() {
    const auto unnamed = recorded.find({});
    if (unnamed == recorded.end() || recorded.size() != 2) return;
    Group& named = recorded.rbegin()->second;
    named.insert(named.end(), unnamed->second.begin(), unnamed->second.end());
    std::sort(named.begin(), named.end(),
              [](const Region* a, const Region* b) { return a->number < b->number; });
    recorded.erase(unnamed);
  }
};

}  // namespace

ConstructAnswer::Skip ConstructAnswer::skip() const {
  Skip skip;
  if (kind != ConstructKind::branch || !sums.data_dependent || !sums.joins || !sums.is_known()) return skip;
  if (sums.taken == 0 || sums.not_taken == 0) return skip;
  const double taken = sums.taken_time.untraced() / static_cast<double>(sums.taken);
  const double other = sums.not_taken_time.untraced() / static_cast<double>(sums.not_taken);
  skip.known = taken != other;
  skip.costly_is_taken = taken > other;
  skip.costly_ns = std::max(taken, other);
  skip.cheap_ns = std::min(taken, other);
  skip.decision_ns = sums.decides().untraced() / static_cast<double>(sums.visits());
  skip.executed = static_cast<double>(skip.costly_is_taken ? sums.taken : sums.not_taken) /
                  static_cast<double>(sums.taken + sums.not_taken);
  const double saves = skip.costly_ns - skip.cheap_ns;
  skip.benefit_ns = (1 - skip.executed) * saves - skip.decision_ns;
  skip.break_even = skip.known ? 1 - skip.decision_ns / saves : 0;
  return skip;
}

double RegionAnswer::overhead() const {
  const double all = parts.untraced();
  return all > 0 ? (parts.python + parts.control) / all : 0;
}

bool RegionAnswer::is_hidden() const { return parts.tracing > kMostRecording * parts.all(); }

bool RegionAnswer::waits() const { return waited_ns && *waited_ns > kMuchWaiting * parts.untraced(); }

double RegionAnswer::overhead_low() const {
  const double all = parts.untraced();
  return all > 0 ? std::max(0.0, parts.python + parts.control - waited_ns.value_or(0)) / all : 0;
}

double RegionAnswer::speedup_high() const { return parts.native > 0 ? parts.untraced() / parts.native : 1; }

double RegionAnswer::speedup_low() const {
  const double best = parts.native + kDispatchNs * (operators - control_operators);
  return best > 0 ? std::max(1.0, parts.untraced() / best) : 1;
}

Ladder RegionAnswer::ladder() const {
  Ladder ladder;
  ladder.as_is = parts.untraced();
  ladder.without_control = ladder.as_is - parts.control;
  ladder.compiled_high = parts.native + kDispatchNs * (operators - control_operators);
  // No less than compiled: what recording took may be more than the gaps that it is taken from.
  ladder.straight_line = std::max(parts.native + straight_python, ladder.compiled_high);
  ladder.compiled_low = parts.native;
  ladder.operators = parts.native;
  return ladder;
}

std::vector<RegionAnswer> answers_of(const std::vector<Region>& regions) {
  std::map<std::tuple<std::uint32_t, const Process*, bool>, Calls> found;
  for (const Region& region : regions)
    found[{region.process->number, region.process, region.is_step}].add(region);
  std::vector<RegionAnswer> answers;
  for (auto& [key, calls] : found) {
    calls.name_unnamed();
    const bool one = calls.recorded.size() == 1;
    for (const auto& [function, group] : calls.recorded) {
      // Of calls that were only timed, the function is not recorded.
      answers.push_back(answer_of(group, one ? calls.timed : Group{}));
      if (!one) answers.back().name += fmt::format(" ({})", memory::source_text(function));
    }
  }
  std::stable_sort(answers.begin(), answers.end(), [](const RegionAnswer& a, const RegionAnswer& b) {
    return a.parts.untraced() * static_cast<double>(a.recorded) >
           b.parts.untraced() * static_cast<double>(b.recorded);
  });
  return answers;
}

}  // namespace lotus::analyzer::controlflow
