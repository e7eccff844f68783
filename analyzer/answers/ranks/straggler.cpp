// Finds the rank that delays the others, and the reason.
#include <fmt/format.h>

#include <algorithm>

#include "answers/ranks/ranks.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

// An operation explains a straggler if it causes this share of the extra time of the rank's batches.
constexpr double kExplains = 0.3;

// The median over the other ranks than `rank`; `value_of` returns none for a rank without the value.
template <class ValueOf>
std::optional<double> median_of_others(const RankFindings& findings, const RankFinding& rank,
                                       ValueOf value_of) {
  std::vector<double> values;
  for (const auto& other : findings.ranks)
    if (&other != &rank)
      if (const std::optional<double> value = value_of(other)) values.push_back(*value);
  return values.empty() ? std::nullopt : std::optional(median_of(std::move(values)));
}

std::optional<double> per_batch(const RankFinding& rank, double ns) {
  return rank.fetch.count == 0 ? std::nullopt : std::optional(ns / static_cast<double>(rank.fetch.count));
}

// A rank of which it is not known how long it waited for its data; nullptr: there is none.
const RankFinding* taken_elsewhere(const RankFindings& findings) {
  for (const RankFinding& rank : findings.ranks)
    if (rank.taken_elsewhere()) return &rank;
  return nullptr;
}

void find_op(const RankFindings& findings, Straggler& straggler) {
  const RankFinding& rank = *straggler.rank;
  const auto fetch_of = [](const RankFinding& r) { return per_batch(r, r.fetch.sum); };
  const auto usual = median_of_others(findings, rank, fetch_of);
  if (!usual || rank.fetch.count == 0) return;
  double most = kExplains * (*fetch_of(rank) - *usual);
  if (most <= 0) return;
  for (const auto& [name, calls] : rank.ops) {
    const auto total_of = [&name = name](const RankFinding& r) -> std::optional<double> {
      const auto hit = r.ops.find(name);
      return per_batch(r, hit == r.ops.end() ? 0 : hit->second.sum);
    };
    const double more = *total_of(rank) - median_of_others(findings, rank, total_of).value_or(0);
    if (more < most) continue;
    most = more;
    straggler.op = name;
    straggler.op_mean = calls.mean();
    straggler.others_op_mean =
        median_of_others(findings, rank, [&name = name](const RankFinding& r) -> std::optional<double> {
          const auto hit = r.ops.find(name);
          return hit == r.ops.end() ? std::nullopt : std::optional(hit->second.mean());
        }).value_or(0);
  }
}

}  // namespace

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::optional<Straggler> straggler_of(const RankFindings& findings) {
  if (findings.ranks.size() < 2 || taken_elsewhere(findings) != nullptr) return std::nullopt;
  Straggler straggler;
  straggler.rank =
      &*std::max_element(findings.ranks.begin(), findings.ranks.end(),
                         [](const auto& a, const auto& b) { return a.next_later < b.next_later; });
  straggler.others_next =
      *median_of_others(findings, *straggler.rank, [](const auto& r) { return std::optional(r.next_later); });
  const double more = straggler.rank->next_later - straggler.others_next;
  if (straggler.rank->loop_later() <= 0 || 100 * more < kStragglerPercent * straggler.rank->loop_later())
    return std::nullopt;
  find_op(findings, straggler);
  return straggler;
}

std::string straggler_message(const RankFindings& findings, const std::optional<Straggler>& straggler) {
  if (findings.ranks.size() < 2)
    return fmt::format("Only rank {} of {} is in the trace: name the traces of the others, too.",
                       findings.ranks.front().rank, findings.world);
  if (const RankFinding* const rank = taken_elsewhere(findings))
    return fmt::format(
        "Which rank holds the others up is not known: in rank {}, another thread than training's takes the "
        "batches and hands them on.",
        rank->rank);
  if (!straggler) return "No rank holds the others up: all waited about as long for their data.";
  const RankFinding& rank = *straggler->rank;
  std::string text = fmt::format(
      "Rank {} holds the others up: it waited {} of {} for its data, the other{} {}{}; first batches of "
      "epochs left out. ",
      rank.rank, human_time(rank.next_later), human_time(rank.loop_later()),
      findings.ranks.size() > 2 ? "s" : "", human_time(straggler->others_next),
      findings.ranks.size() > 2 ? " (median)" : "");
  if (straggler->op.empty())
    return text + "No operation of its own explains that: compare its workers, its machine and its storage.";
  return text + fmt::format("{} takes {} a call there, {} elsewhere.", escaped(straggler->op),
                            human_time(straggler->op_mean), human_time(straggler->others_op_mean));
}

std::vector<OpOfRanks> ops_of_ranks(const RankFindings& findings) {
  std::map<std::string, OpOfRanks> rows;
  std::map<std::string, std::vector<double>> means;
  for (const auto& rank : findings.ranks)
    for (const auto& [name, calls] : rank.ops) {
      if (calls.count == 0) continue;
      OpOfRanks& row = rows[name];
      row.name = name;
      row.calls += calls.count;
      means[name].push_back(calls.mean());
      if (calls.mean() <= row.slowest) continue;
      row.slowest = calls.mean();
      row.slowest_rank = rank.rank;
    }
  std::vector<OpOfRanks> list;
  for (auto& [name, row] : rows) {
    row.median = median_of(means[name]);
    list.push_back(std::move(row));
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return (a.slowest - a.median) * static_cast<double>(a.calls) >
           (b.slowest - b.median) * static_cast<double>(b.calls);
  });
  return list;
}

}  // namespace lotus::analyzer
