#include "paper/lotustrace/main_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace lotus::analyzer::lotustrace {
namespace {

// A stay in __next__.
struct Stay {
  std::int64_t start, got, end;
  std::uint64_t batch;
  std::uint64_t line;
  bool waited, consumed;
};

// Records that contradict others and are left out, by line.
using Problems = std::map<std::uint64_t, std::string>;

std::vector<Stay> stays_of(const LoggedEpoch& epoch, Problems& problems) {
  std::vector<Stay> stays;
  for (const auto& [number, batch] : epoch.batches) {
    const bool waited = batch.wait && !batch.out_of_order();
    const bool early = waited && batch.consumed && batch.consumed->start < batch.wait->end();
    if (early)
      problems[batch.consumed->line] = fmt::format(
          "batch {} is consumed {} ns before its wait (line {}) has ended; its consumption is left out",
          number, batch.wait->end() - batch.consumed->start, batch.wait->line);
    const bool consumed = batch.consumed && !early;
    const std::int64_t at = consumed ? batch.consumed->start : 0;
    if (waited)
      stays.push_back({batch.wait->start, batch.wait->end(), consumed ? at : batch.wait->end(), number,
                       batch.wait->line, true, consumed});
    else if (consumed)
      stays.push_back({at, at, at, number, batch.consumed->line, false, true});
  }
  std::stable_sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) {
    return std::tuple(a.start, a.end) < std::tuple(b.start, b.end);
  });
  return stays;
}

// One thread does one thing at a time.
void keep_apart(std::vector<Stay>& stays, Problems& problems) {
  const Stay* before = nullptr;
  std::vector<Stay> kept;
  kept.reserve(stays.size());
  for (const Stay& stay : stays) {
    if (before == nullptr || stay.start >= before->end)
      before = &kept.emplace_back(stay);
    else
      problems[stay.line] = fmt::format(
          "batch {} is waited for {} ns before batch {} (line {}) is consumed, and one thread waits "
          "for one batch at a time; its wait is left out",
          stay.batch, before->end - stay.start, before->batch, before->line);
  }
  stays = std::move(kept);
}

class Steps {
 public:
  Steps(const LoggedEpoch& epoch, BatchName name, bool inline_fetch)
      : epoch_(epoch), name_(name), inline_fetch_(inline_fetch) {}

  std::vector<Step> run(const std::vector<Stay>& stays) {
    for (std::size_t i = 0; i < stays.size(); ++i) add_stay(stays[i], i);
    for (const auto& [number, batch] : epoch_.batches) {
      if (batch.out_of_order()) add_arrival(batch.wait->start, number, stays);
      if (batch.queued)
        add(Step::What::queued, batch.queued->start, number, stay_at(batch.queued->start, stays));
    }
    std::stable_sort(ordered_.begin(), ordered_.end(), [](const Ordered& a, const Ordered& b) {
      return std::tuple(a.step.at, a.stay, a.step.what) < std::tuple(b.step.at, b.stay, b.step.what);
    });
    return counted();
  }

 private:
  struct Ordered {
    Step step;
    std::size_t stay;  // that it belongs to, among those of one time
  };

  static std::size_t stay_at(std::int64_t at, const std::vector<Stay>& stays) {
    const auto after =
        std::upper_bound(stays.begin(), stays.end(), at,
                         [](std::int64_t time, const Stay& stay) { return time < stay.start; });
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, after - stays.begin() - 1));
  }

  void add(Step::What what, std::int64_t at, std::uint64_t batch, std::size_t stay,
           std::uint64_t expected = 0) {
    ordered_.push_back(
        {{what, at, {name_.iterator, name_.reset, batch}, expected, inline_fetch_, std::nullopt, INT64_MAX},
         stay});
  }

  void add_stay(const Stay& stay, std::size_t number) {
    add(Step::What::enter, stay.start, stay.batch, number);
    if (stay.waited && !inline_fetch_) add(Step::What::got, stay.got, stay.batch, number, stay.batch);
    if (inline_fetch_) {
      add(Step::What::fetch, stay.start, stay.batch, number);
      ordered_.back().step.until = stay.end;
    }
    add(stay.consumed ? Step::What::leave : Step::What::abandon, stay.end, stay.batch, number);
  }

  void add_arrival(std::int64_t at, std::uint64_t batch, const std::vector<Stay>& stays) {
    const std::size_t stay = stay_at(at, stays);
    const bool inside =
        !stays.empty() && stays[stay].waited && stays[stay].start <= at && at <= stays[stay].got;
    if (inside)
      add(Step::What::arrive, at, batch, stay, stays[stay].batch);
    else
      add(Step::What::lone, at, batch, stay);
  }

  // With Queued records it is known how many batches were on their way.
  std::vector<Step> counted() {
    const bool known = std::any_of(ordered_.begin(), ordered_.end(),
                                   [](const Ordered& one) { return one.step.what == Step::What::queued; });
    std::int64_t outstanding = 0;
    std::vector<Step> steps;
    for (auto& [step, stay] : ordered_) {
      if (step.what == Step::What::queued) ++outstanding;
      const bool received =
          step.what == Step::What::arrive || step.what == Step::What::got || step.what == Step::What::lone;
      if (received) --outstanding;
      if (known) step.outstanding = static_cast<std::uint64_t>(std::max<std::int64_t>(0, outstanding));
      steps.push_back(step);
    }
    return steps;
  }

  const LoggedEpoch& epoch_;
  BatchName name_;
  bool inline_fetch_;
  std::vector<Ordered> ordered_;
};

}  // namespace

std::vector<Step> steps_of(const LoggedEpoch& epoch, BatchName name, bool inline_fetch,
                           const std::string& path, Complaints& complaints) {
  Problems problems;
  std::vector<Stay> stays = stays_of(epoch, problems);
  keep_apart(stays, problems);
  for (const auto& [line, problem] : problems) complaints.add(path, line, problem);
  return Steps(epoch, name, inline_fetch).run(stays);
}

}  // namespace lotus::analyzer::lotustrace
