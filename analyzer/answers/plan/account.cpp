#include "answers/plan/account.hpp"

#include <algorithm>

namespace lotus::analyzer::memory_plan {
namespace {

std::uint64_t bytes_of(std::int64_t pages) { return static_cast<std::uint64_t>(pages) * kPage; }

void add(Operands& operands, std::uint64_t bytes, bool fast) {
  ++operands.count;
  operands.bytes += bytes;
  if (!fast) return;
  ++operands.fast_count;
  operands.fast_bytes += bytes;
}

// Operators and storages whose operand lies in slow memory.
std::vector<std::vector<std::size_t>> slow_operands(const Planned& planned, const Run& run) {
  std::vector<std::vector<std::size_t>> slow(planned.step.operators.size());
  for (std::size_t i = 0; i < planned.problem.items.size(); ++i) {
    const Item& item = planned.problem.items[i];
    for (std::size_t j = 0; j < item.segments.size(); ++j) {
      const Segment& segment = item.segments[j];
      if (segment.use && !run.placement[i][j] && segment.first < slow.size())
        slow[segment.first].push_back(item.storage);
    }
  }
  return slow;
}

void count_operands(Account& account, const Planned& planned, const Run& run) {
  const auto slow = slow_operands(planned, run);
  for (std::size_t k = 0; k < slow.size(); ++k) {
    Config config;
    for (const auto& operand : planned.step.operators[k].operands) {
      const bool fast = std::find(slow[k].begin(), slow[k].end(), operand.storage) == slow[k].end();
      const std::uint64_t bytes = planned.step.storages[operand.storage].bytes;
      if (operand.read) {
        add(account.inputs, bytes, fast);
        ++config.inputs;
        config.slow_inputs += fast ? 0 : 1;
      }
      if (operand.written) {
        add(account.outputs, bytes, fast);
        ++config.outputs;
        config.slow_outputs += fast ? 0 : 1;
      }
    }
    ++account.configs[config];
  }
}

void count_moves(Account& account, const Planned& planned, const Run& run) {
  for (const Move& move : run.outcome.moves) {
    const std::uint64_t bytes = whole_pages(planned.step.storages[move.storage].bytes);
    if (!move.copied) {
      ++account.dropped;
    } else if (move.to_fast) {
      ++account.to_fast;
      account.bytes_to_fast += bytes;
    } else {
      ++account.to_slow;
      account.bytes_to_slow += bytes;
    }
  }
}

Decision decision_of(const Item& item, const std::vector<bool>& places) {
  Decision decision;
  decision.storage = item.storage;
  decision.starts_fast = places.front();
  decision.seconds = seconds_of(item, places);
  const auto left = std::find(places.begin(), places.end(), false) - places.begin();
  for (std::size_t j = 0; j < item.segments.size(); ++j) {
    const Segment& segment = item.segments[j];
    if (!segment.use) continue;
    if (static_cast<std::ptrdiff_t>(j) < left)
      decision.last_fast_use = segment.first;
    else if (!decision.next_use && !(item.cyclic && j + 1 == item.segments.size()))
      decision.next_use = segment.first;
  }
  return decision;
}

}  // namespace

Account account_of(const Planned& planned, const Run& run) {
  Account account;
  count_operands(account, planned, run);
  count_moves(account, planned, run);
  account.fast_peak = bytes_of(*std::max_element(run.outcome.fast.begin(), run.outcome.fast.end()));
  account.slow_peak = bytes_of(*std::max_element(run.outcome.slow.begin(), run.outcome.slow.end()));
  return account;
}

std::vector<Decision> decisions_of(const Planned& planned, const Run& run) {
  std::vector<Decision> decisions;
  std::map<std::size_t, std::size_t> place;  // by storage
  for (std::size_t i = 0; i < planned.problem.items.size(); ++i) {
    const auto& places = run.placement[i];
    if (std::find(places.begin(), places.end(), false) == places.end()) continue;
    place[planned.problem.items[i].storage] = decisions.size();
    decisions.push_back(decision_of(planned.problem.items[i], places));
  }
  for (const Move& move : run.outcome.moves) decisions[place.at(move.storage)].moves.push_back(move);
  std::stable_sort(decisions.begin(), decisions.end(), [&](const Decision& a, const Decision& b) {
    return planned.step.storages[a.storage].bytes > planned.step.storages[b.storage].bytes;
  });
  return decisions;
}

std::map<std::uint64_t, std::uint64_t> sizes_of(const memory::Step& step) {
  std::map<std::uint64_t, std::uint64_t> sizes;
  for (const auto& storage : step.storages) ++sizes[whole_pages(storage.bytes)];
  return sizes;
}

std::uint64_t io_bytes(const memory::Step& step) {
  std::uint64_t bytes = 0;
  for (const auto& storage : step.storages)
    if (storage.older != storage.survives) bytes += whole_pages(storage.bytes);
  return bytes;
}

}  // namespace lotus::analyzer::memory_plan
