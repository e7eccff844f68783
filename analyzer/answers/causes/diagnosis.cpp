#include "answers/causes/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

// More workers, or a cheaper operation, would cure the waiting whatever its reason. Such a general cause is
// told before a special one only if it explains more than this many times as much.
constexpr double kGeneral = 2;
// Of two causes that explain about the same, within 10 %, the one that stands first in the table is told
// first: replays are not more exact than that.
constexpr double kAboutTheSame = 0.9;

// What is urgent, though it takes little time, is told after a special cause that explains this percent of
// training's time: collecting garbage, or pickling large batches, writes to pages that were shared, too.
constexpr double kUrgentYields = 30;

double weight_of(const Judged& judged) {
  const double weight = judged.judgement.explains * (judged.judgement.general ? 1 : kGeneral);
  if (judged.judgement.urgent) return weight * 1e6;
  return judged.judgement.aside ? weight / 1e6 : weight;
}

// The greatest weight first; about the same: in the order of the table.
std::vector<Judged> ranked(std::vector<Judged> left) {
  std::vector<Judged> sorted;
  while (!left.empty()) {
    double most = 0;
    for (const auto& judged : left) most = std::max(most, weight_of(judged));
    const auto first = std::find_if(left.begin(), left.end(), [&](const Judged& judged) {
      return weight_of(judged) >= kAboutTheSame * most;
    });
    sorted.push_back(std::move(*first));
    left.erase(first);
  }
  return sorted;
}

void judge_all(const Case& c, Place place, Diagnosis& diagnosis) {
  for (const CauseRow& row : causes()) {
    // Most rows ask for PyTorch's workers and fetches.
    if (row.place != place || (c.is_other() && place == Place::ranked && !row.of_any_loader)) continue;
    Judgement judgement = row.judge(c);
    auto& list = judgement.holds ? diagnosis.held : diagnosis.ruled_out;
    list.push_back({row.cause, std::move(judgement)});
    if (place == Place::rest && !diagnosis.held.empty()) return;
  }
}

void let_urgent_yield(std::vector<Judged>& held) {
  const bool yields = std::any_of(held.begin(), held.end(), [](const Judged& judged) {
    const Judgement& found = judged.judgement;
    return !found.urgent && !found.general && !found.aside && found.explains >= kUrgentYields;
  });
  for (Judged& judged : held) judged.judgement.urgent = judged.judgement.urgent && !yields;
}

// More workers, or a longer queue, would leave one of these causes as it is, and the replay does not know.
bool workers_would_wait(const std::vector<Judged>& held) {
  return std::any_of(held.begin(), held.end(), [](const Judged& judged) {
    return judged.cause == Cause::batching || judged.cause == Cause::lock || judged.cause == Cause::threads ||
           judged.cause == Cause::oversubscribed;
  });
}

void rule_out_workers(Diagnosis& diagnosis) {
  if (!workers_would_wait(diagnosis.held)) return;
  std::erase_if(diagnosis.held, [&](Judged& judged) {
    if (judged.cause != Cause::workers) return false;
    judged.judgement.holds = false;
    judged.judgement.words = "more workers would leave what is told before";
    diagnosis.ruled_out.push_back(std::move(judged));
    return true;
  });
}

void judge(const Case& c, Diagnosis& diagnosis) {
  if (c.judgeable()) judge_all(c, Place::ranked, diagnosis);
  let_urgent_yield(diagnosis.held);
  rule_out_workers(diagnosis);
  diagnosis.held = ranked(std::move(diagnosis.held));
  if (diagnosis.held.empty()) judge_all(c, Place::rest, diagnosis);
}

// Whether even the low end of the interval gains.
bool gains(const Prediction& then, const Recording& recording) {
  return then.images_per_s.low > recording.achieved.images_per_s();
}

Advice advice_of(const Case& c, const Trial& trial) {
  const Trials& trials = *c.trials();
  Advice advice{trial.action,          {}, trial.change, trials.replay().predict(trial.question), trial.gain,
                trial.question.workers};
  const Achieved& now =
      trials.recording().achieved;  // as the tables show it; the gain is relative to the replay
  const Achieved& then = advice.prediction->achieved;
  const double waited = std::min(now.waited_percent(), trials.replay().replayed().achieved.waited_percent());
  const bool less = then.waited_percent() < waited - 0.5;
  const std::string wait =
      less ? fmt::format("cut the wait from {} to {}:", human_percent(now.waited_percent()),
                         human_percent(then.waited_percent()))
           : std::string("give");
  advice.message =
      fmt::format("{} would {} {} instead of {} {}/s", trial.change, wait, human_rate(then.images_per_s()),
                  human_rate(now.images_per_s()), trials.recording().unit);
  return advice;
}

// The trial that answers a cause. A queue that is uneven may be longer or without order.
const Trial* answer_of(const Trials& trials, Cause cause) {
  const char* const action = row_of(cause).action;
  if (action == nullptr) return nullptr;
  const Trial* trial = trials.find(action);
  const Trial* unordered = cause == Cause::uneven ? trials.find("in_order") : nullptr;
  if (unordered != nullptr && (trial == nullptr || unordered->gain > trial->gain)) return unordered;
  return trial;
}

// Where it differs from what was recorded by more than this, a gain that is told would mostly be its error.
bool replay_is_right(const Case& c) {
  constexpr double kMostErrorPercent = 20;
  return std::abs(c.trials()->replay().rate_error_percent()) <= kMostErrorPercent;
}

std::string unsure_of(const Case& c, const Trial& trial) {
  return fmt::format(
      "{} would gain; how much is not known, as the replay of the run as recorded is off by {:+.0f} %",
      trial.change, c.trials()->replay().rate_error_percent());
}

// The advice to the first cause. Where no trial gains for certain, its own change, without a prediction.
Advice first_advice(const Case& c, const Judged& first) {
  const CauseRow& row = row_of(first.cause);
  const std::string& why = first.judgement.words;
  if (c.trials()) {
    const Trial* trial = answer_of(*c.trials(), first.cause);
    if (trial != nullptr && trial->gain > 0 && !first.judgement.untried) {
      Advice advice = advice_of(c, *trial);
      const std::string& change = first.judgement.change;
      advice.message = why + (change.empty() ? "" : "; " + change) + ": " +
                       (replay_is_right(c) ? advice.message : unsure_of(c, *trial));
      if (gains(*advice.prediction, *c.recording())) return advice;
    }
  }
  Advice advice{"none", why, first.cause == Cause::balanced ? "nothing to gain" : why};
  const std::string change =
      first.judgement.change.empty() && row.change != nullptr ? row.change : first.judgement.change;
  if (!change.empty()) advice = {"none", why + ": " + change, change};
  if (c.trials()) advice.prediction = c.trials()->replay().predict({});
  return advice;
}

// Not told: what a row that asks for more than a gain has ruled out; more workers or a longer queue, where
// they would wait, too.
bool is_told(const Trial& trial, const Diagnosis& diagnosis) {
  const std::string_view action = trial.action;
  for (const auto& judged : diagnosis.ruled_out) {
    const char* const answer = row_of(judged.cause).action;
    if (answer != nullptr && action == answer) return false;
  }
  if (action != "workers" && action != "prefetch") return true;
  return !workers_would_wait(diagnosis.held);
}

// A replay of the whole run mixes epochs that read from storage with others that do not: what it predicts
// holds neither for a longer training nor for another run of this one.
bool replay_holds(const Judged& first) { return first.cause != Cause::page_cache; }

// The trace does not tell whether it is so.
constexpr const char* kDealtOut =
    ", if the iterable dataset deals its samples out to workers, by get_worker_info(): otherwise each worker "
    "gives all of them once more";

void advise(const Case& c, Diagnosis& diagnosis) {
  const Judged& first = diagnosis.held.front();
  diagnosis.advice.push_back(first_advice(c, first));
  const bool of_loader = row_of(first.cause).place == Place::ranked;
  if (c.trials() && of_loader && replay_holds(first)) {
    std::vector<const Trial*> others;
    for (const auto& trial : c.trials()->all()) {
      const std::string_view action = trial.action;
      if (action != "train_step" && action != diagnosis.advice.front().action &&
          trial.gain >= c.trials()->worthwhile() && is_told(trial, diagnosis))
        others.push_back(&trial);
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const Trial* a, const Trial* b) { return a->gain > b->gain; });
    for (const Trial* trial : others) {
      Advice advice = advice_of(c, *trial);
      if (gains(*advice.prediction, *c.recording())) diagnosis.advice.push_back(std::move(advice));
    }
  }
  if (!c.trials()) return;
  // More workers than cores may be useless, so advice about workers says how much fetches compute. If other
  // programs use the cores, the first advice says so, whatever it is.
  const bool busy = first.cause != Cause::training && c.core_wait_percent() >= kTellsOfCoresPercent;
  for (Advice& advice : diagnosis.advice) {
    if (advice.action == "workers" && c.recording()->iterable) advice.message += kDealtOut;
    if ((advice.action == "workers" && c.workers() > 0) || (busy && &advice == &diagnosis.advice.front()))
      advice.message += c.trials()->about_fetches(c.core_wait_percent());
  }
}

}  // namespace

Diagnosis diagnosis_of(const Case& c) {
  Diagnosis diagnosis;
  judge(c, diagnosis);
  if (c.trials())
    diagnosis.error = {c.trials()->replay().rate_error_percent(), c.trials()->replay().waited_error()};
  advise(c, diagnosis);
  return diagnosis;
}

}  // namespace lotus::analyzer
