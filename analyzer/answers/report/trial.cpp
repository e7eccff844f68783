#include "answers/report/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "answers/replay/torch_version.hpp"

namespace lotus::analyzer {
namespace {

void ask(Question& question, const std::string& name, const std::string& value) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc()) return;  // prefetch_factor=none, which is what a loader without workers has
  if (name == "num_workers") question.workers = number;
  if (name == "prefetch_factor") question.prefetch = number;
  if (name == "persistent_workers") question.persistent = number != 0;
  if (name == "pin_memory") question.pin_memory = number != 0;
  if (name == "in_order") question.in_order = number != 0;
}

const Recording* same_loader(const Recording& former, const std::vector<Recording>& recordings) {
  const Recording* found = nullptr;
  for (const Recording& one : recordings) {
    if (one.loader.dataset != former.loader.dataset || one.loader.batch_size != former.loader.batch_size)
      continue;
    if (found == nullptr || one.loader.id == former.loader.id) found = &one;
  }
  return found;
}

}  // namespace

bool TrialOutcome::as_predicted() const {
  const double rate = came.images_per_s();
  return predicted && rate >= predicted->images_per_s.low && rate <= predicted->images_per_s.high;
}

std::optional<Question> question_of(const std::string& settings) {
  Question question;
  for (std::size_t begin = 0; begin < settings.size();) {
    const std::size_t end = std::min(settings.find(',', begin), settings.size());
    const std::size_t equals = std::min(settings.find('=', begin), end);
    const std::string name = settings.substr(begin, equals - begin);
    if (name == "threads") return std::nullopt;
    if (equals < end) ask(question, name, settings.substr(equals + 1, end - equals - 1));
    begin = end + 1;
  }
  return question;
}

std::string settings_to_try(const Recording& recording, const Settings& then) {
  const Settings now = settings_of(recording, {});
  std::string out;
  const auto add = [&out](const char* name, std::uint64_t value) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, value);
  };
  if (then.workers != now.workers) add("num_workers", then.workers);
  if (then.workers == 0 && now.workers > 0) {  // what needs workers goes with them
    out += ",prefetch_factor=none";
    if (recording.loader.persistent) add("persistent_workers", 0);
  }
  if (then.workers > 0) {
    if (then.prefetch != now.prefetch) add("prefetch_factor", then.prefetch);
    // Where the program makes the loader anew for each epoch, its workers cannot be kept by a setting.
    if (then.persistent != now.persistent && recording.loader.made <= 1)
      add("persistent_workers", then.persistent ? 1 : 0);
  }
  if (then.pin_memory != now.pin_memory) add("pin_memory", then.pin_memory ? 1 : 0);
  if (then.in_order != now.in_order && torch_version(recording.torch) >= kInOrderSince)
    add("in_order", then.in_order ? 1 : 0);
  return out;
}

std::optional<TrialOutcome> outcome_of(const std::string& settings, const std::vector<Recording>& former,
                                       const std::vector<Recording>& tried) {
  if (former.empty()) return std::nullopt;
  const Recording& before = former.front();
  const Recording* after = same_loader(before, tried);
  if (after == nullptr || before.achieved.time <= 0 || after->achieved.time <= 0) return std::nullopt;
  TrialOutcome outcome{before.file, before.unit, before.achieved, after->achieved};
  const std::optional<Question> question = question_of(settings);
  outcome.taken_elsewhere = before.taken_elsewhere() || after->taken_elsewhere();
  if (outcome.taken_elsewhere)
    outcome.why_not = "another thread than training's took the batches";
  else if (!question)
    outcome.why_not = "the replay does not know what threads do";
  else if (before.kept() < kFewestToReplay)
    outcome.why_not = "the former run had too few batches for a replay";
  else
    outcome.predicted = Replay(before).predict(*question);
  return outcome;
}

}  // namespace lotus::analyzer
