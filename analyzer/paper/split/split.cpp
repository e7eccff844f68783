#include "paper/split/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "paper/split/counters.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

class Splitter {
 public:
  Splitter(const std::vector<Counter>& counters, const std::vector<MappedFunction>& mapped,
           const OpSeconds& elapsed)
      : counters_(counters), elapsed_(elapsed) {
    for (const auto& one : mapped)
      for (const auto& library : {one.library, std::string()}) ops_[{one.function, library}].insert(one.op);
    for (const Counter& counter : counters)
      if (!counter.percent && is_clockticks(counter.name))
        clockticks_.try_emplace({counter.function, counter.library}, counter.value);
  }

  std::vector<CounterSplit> run() {
    for (const Counter& counter : counters_) add(split_of(counter.name), counter);
    for (auto& split : splits_)
      std::stable_sort(split.functions.begin(), split.functions.end(),
                       [](const FunctionSplit& a, const FunctionSplit& b) { return a.value > b.value; });
    return std::move(splits_);
  }

 private:
  CounterSplit& split_of(const std::string& name) {
    for (auto& split : splits_)
      if (split.name == name) return split;
    return splits_.emplace_back(CounterSplit{name, false, {}, {}, 0});
  }

  double absolute(const Counter& counter) const {
    if (!counter.percent) return counter.value;
    const auto ticks = clockticks_.find({counter.function, counter.library});
    if (ticks == clockticks_.end())
      throw Unusable(
          fmt::format("'{}' of {} is a percentage of clockticks, but the table has no clockticks of it; "
                      "export the column Clockticks, too",
                      escaped(counter.name), escaped(counter.function)));
    return counter.value / 100 * ticks->second;
  }

  void add(CounterSplit& split, const Counter& counter) const {
    split.percent = split.percent || counter.percent;
    FunctionSplit function{counter.function, counter.library, absolute(counter), {}, 0};
    static const std::set<std::string> kNone;
    const auto known = ops_.find({counter.function, counter.library});
    const auto& ops = known == ops_.end() ? kNone : known->second;
    double whole = 0;
    for (const auto& op : ops) whole += seconds(op);
    for (const auto& op : ops) {
      if (seconds(op) <= 0) continue;
      const double part = function.value * seconds(op) / whole;
      function.by_op[op] += part;
      split.by_op[op] += part;
    }
    if (whole <= 0) function.unmapped = function.value;
    split.unmapped += function.unmapped;
    split.functions.push_back(std::move(function));
  }

  double seconds(const std::string& op) const {
    const auto hit = elapsed_.find(op);
    return hit == elapsed_.end() ? 0 : hit->second;
  }

  const std::vector<Counter>& counters_;
  const OpSeconds& elapsed_;
  using Key = std::pair<std::string, std::string>;  // function and library; empty: any library
  std::map<Key, std::set<std::string>> ops_;
  std::map<Key, double> clockticks_;
  std::vector<CounterSplit> splits_;
};

}  // namespace

std::vector<CounterSplit> split_counters(const std::vector<Counter>& counters,
                                         const std::vector<MappedFunction>& mapped,
                                         const OpSeconds& elapsed) {
  return Splitter(counters, mapped, elapsed).run();
}

}  // namespace lotus::analyzer
