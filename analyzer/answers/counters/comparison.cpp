#include "answers/counters/comparison.hpp"

#include <algorithm>
#include <map>

namespace lotus::analyzer {
namespace {

using CallsByName = std::map<std::string, CountedCalls>;

// Operations of the same name are one, as times are compared.
CallsByName calls_by_name(const CounterFindings& findings) {
  CallsByName ops;
  for (const auto& [key, calls] : findings.ops)
    if (!calls.counters.empty()) ops[key.name].add(calls);
  return ops;
}

// Counters that were counted in any of the calls.
std::set<std::string> names_counted(const CounterFindings& findings) {
  std::set<std::string> names;
  for (const auto& [key, calls] : findings.ops)
    for (const auto& [counter, totals] : calls.counters) names.insert(counter);
  for (const auto& [counter, totals] : findings.fetches.counters) names.insert(counter);
  return names;
}

bool is_user_only(const CounterFindings& findings, const std::string& counter) {
  const auto found = findings.counters.find(counter);
  return found != findings.counters.end() && found->second.user_only;
}

void add_counter_changes(const std::optional<std::string>& op, const CountedCalls& before,
                         const CountedCalls& after, const std::set<std::string>& compared,
                         CounterComparison& comparison) {
  for (const std::string& counter : compared) {
    const auto a = before.per_call(counter), b = after.per_call(counter);
    if (a && b) comparison.changes.push_back({op, counter, {*a, *b}});
  }
}

}  // namespace

CounterComparison compare_counters(const CounterFindings& before, const CounterFindings& after) {
  CounterComparison comparison;
  const std::set<std::string> a = names_counted(before), b = names_counted(after);
  std::set<std::string> compared;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(),
                      std::inserter(comparison.only_before, comparison.only_before.end()));
  std::set_difference(b.begin(), b.end(), a.begin(), a.end(),
                      std::inserter(comparison.only_after, comparison.only_after.end()));
  for (const std::string& counter : a) {
    if (!b.contains(counter)) continue;
    const bool same_part = is_user_only(before, counter) == is_user_only(after, counter);
    (same_part ? compared : comparison.of_other_parts).insert(counter);
  }
  comparison.processors_before = before.processors;
  comparison.processors_after = after.processors;
  const CallsByName ops_after = calls_by_name(after);
  for (const auto& [op, calls] : calls_by_name(before))
    if (const auto found = ops_after.find(op); found != ops_after.end())
      add_counter_changes(op, calls, found->second, compared, comparison);
  add_counter_changes(std::nullopt, before.fetches, after.fetches, compared, comparison);
  return comparison;
}

}  // namespace lotus::analyzer
