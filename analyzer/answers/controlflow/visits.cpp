#include "answers/controlflow/visits.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace lotus::analyzer::controlflow {
namespace {

using Sign = std::pair<bool, std::uint64_t>;  // of an event: a call of a code, or an operator

Sign sign_of(const Region& region, const Event& event) {
  return {event.is_call,
          event.is_call ? region.activations[event.index].code : region.operators[event.index].hook};
}

// Of an operator that a function of Python's torch has the name of: what it dispatches; else empty.
std::string function_of(const Region& region, const Event& event) {
  constexpr std::string_view kSpace = "aten::";
  if (event.is_call || region.process == nullptr) return {};
  const auto hook = region.process->hooks.find(region.operators[event.index].hook);
  if (hook == region.process->hooks.end() || !hook->second.name.starts_with(kSpace)) return {};
  return hook->second.name.substr(kSpace.size());
}

// The length of the shortest sequence that `signs` repeat as a whole.
std::size_t period_of(const std::vector<Sign>& signs) {
  for (std::size_t period = 1; period < signs.size(); ++period) {
    if (signs.size() % period != 0) continue;
    std::size_t i = period;
    while (i < signs.size() && signs[i] == signs[i - period]) ++i;
    if (i == signs.size()) return period;
  }
  return signs.size();
}

}  // namespace

std::vector<Visit> visits_of(const Region& region, const Activation& activation, const CodeFlow& flow) {
  std::vector<Visit> runs;
  for (std::size_t i = 0; i < activation.events.size(); ++i) {
    const std::size_t at = flow.doer_at(activation.events[i].offset);
    if (!runs.empty() && (at == kNone || at == runs.back().instruction))
      runs.back().last = i + 1;
    else if (at != kNone)
      runs.push_back({at, i, i + 1, false});
  }
  std::vector<Visit> visits;
  for (const Visit& run : runs) {
    if (run.last - run.first < 2 || !flow.comes_again_unseen(run.instruction)) {
      visits.push_back(run);
      continue;
    }
    std::vector<Sign> signs;
    bool calls = true;
    for (std::size_t i = run.first; i < run.last; ++i) {
      signs.push_back(sign_of(region, activation.events[i]));
      calls = calls && activation.events[i].is_call;
    }
    // An instruction usually calls one function; sorted() and map() call theirs as often as they like.
    const std::size_t period = calls ? 1 : period_of(signs);
    const bool alike =
        std::all_of(signs.begin(), signs.end(), [&](const Sign& sign) { return sign == signs.front(); });
    const Event& first = activation.events[run.first];
    const bool is_one = flow.is_operation(run.instruction) ||
                        (calls ? flow.calls_one(run.instruction)
                               : flow.calls_one_of(run.instruction, function_of(region, first)));
    const bool certain = alike && is_one;
    for (std::size_t i = run.first; i < run.last; i += period)
      visits.push_back({run.instruction, i, i + period, !certain});
  }
  return visits;
}

}  // namespace lotus::analyzer::controlflow
