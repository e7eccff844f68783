#include "answers/report/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "answers/report/findings.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// Versions are compared as far as they are numbers: "2.10.1+cpu" is 2.10.
bool has_in_order(const std::string& torch) {
  int major = 0;
  int minor = 0;
  const char* const end = torch.data() + torch.size();
  const auto [dot, error] = std::from_chars(torch.data(), end, major);
  if (error != std::errc() || dot == end || *dot != '.') return false;
  std::from_chars(dot + 1, end, minor);
  return std::pair(major, minor) >= std::pair(2, 6);
}

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

std::string rate(const Achieved& achieved) { return human_rate(achieved.images_per_s()) + " images/s"; }

std::string predicted_text(const TrialOutcome& outcome) {
  if (!outcome.predicted) return "what to expect was not known: " + outcome.why_not;
  const Range& range = outcome.predicted->images_per_s;
  const double came = outcome.came.images_per_s();
  const char* verdict = outcome.as_predicted() ? "it is in the predicted interval"
                        : came < range.low     ? "it is less than predicted"
                                               : "it is more than predicted";
  return fmt::format("predicted were {} [{}, {}]: {}", human_rate(outcome.predicted->achieved.images_per_s()),
                     human_rate(range.low), human_rate(range.high), verdict);
}

std::string outcome_text(const TrialOutcome& outcome) {
  return fmt::format("Without it ({}): {}, now {}; {}.", escaped(outcome.file), rate(outcome.before),
                     rate(outcome.came), predicted_text(outcome));
}

std::string tried_text(const Tried& tried) {
  if (!tried.refused.empty())
    return fmt::format("LOTUS_TRY={} was refused for a loader that stayed as the program makes it: {}.",
                       escaped(tried.settings), escaped(tried.refused));
  const std::string instead =
      tried.instead.empty() ? "" : ", where the program has " + escaped(tried.instead);
  return fmt::format("Tried: {}{}.", escaped(tried.settings), instead);
}

Json achieved_json(const Achieved& achieved) {
  return {{"images_per_s", achieved.images_per_s()}, {"waited_percent", achieved.waited_percent()}};
}

Json range_json(const Range& range) { return Json::array({range.low, range.high}); }

Json outcome_json(const TrialOutcome& outcome) {
  Json json = {{"file", outcome.file}, {"before", achieved_json(outcome.before)}, {"predicted", nullptr}};
  if (outcome.predicted) {
    json["predicted"] = achieved_json(outcome.predicted->achieved);
    json["predicted"]["images_per_s_interval"] = range_json(outcome.predicted->images_per_s);
    json["predicted"]["waited_percent_interval"] = range_json(outcome.predicted->waited_percent);
  }
  json["came"] = achieved_json(outcome.came);
  json["as_predicted"] = outcome.predicted ? Json(outcome.as_predicted()) : Json(nullptr);
  return json;
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
  if (then.in_order != now.in_order && has_in_order(recording.torch)) add("in_order", then.in_order ? 1 : 0);
  return out;
}

std::optional<TrialOutcome> outcome_of(const std::string& settings, const std::vector<Recording>& former,
                                       const std::vector<Recording>& tried) {
  if (former.empty()) return std::nullopt;
  const Recording& before = former.front();
  const Recording* after = same_loader(before, tried);
  if (after == nullptr || before.achieved.time <= 0 || after->achieved.time <= 0) return std::nullopt;
  TrialOutcome outcome{before.file, before.achieved, after->achieved, std::nullopt, ""};
  const std::optional<Question> question = question_of(settings);
  if (!question)
    outcome.why_not = "the replay does not know what threads do";
  else if (before.kept() < kFewestToReplay)
    outcome.why_not = "the former run had too few batches for a replay";
  else
    outcome.predicted = Replay(before).predict(*question);
  return outcome;
}

std::string trial_text(const Findings& findings, const Terminal& terminal) {
  std::string out;
  const auto add = [&](const std::string& line) {
    out += terminal.styled(Style::bold, wrapped(line, terminal.width)) + "\n";
  };
  for (const Tried& tried : findings.tried) add(tried_text(tried));
  if (findings.trial) add(outcome_text(*findings.trial));
  return out;
}

Json trial_json(const Findings& findings) {
  if (findings.tried.empty()) return nullptr;
  Json loaders = Json::array();
  for (const Tried& tried : findings.tried)
    loaders.push_back({{"instead", tried.instead},
                       {"refused", tried.refused.empty() ? Json(nullptr) : Json(tried.refused)}});
  return {{"settings", findings.tried.front().settings},
          {"loaders", loaders},
          {"against", findings.trial ? outcome_json(*findings.trial) : Json(nullptr)}};
}

}  // namespace lotus::analyzer
