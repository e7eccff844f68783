#include "answers/report/trial_views.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

std::string rate(const TrialOutcome& outcome, const Achieved& achieved) {
  return fmt::format("{} {}/s", human_rate(achieved.images_per_s()), outcome.unit);
}

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
  if (outcome.taken_elsewhere)
    return fmt::format(
        "What came of it beside {} is not known: another thread than training's takes the batches and hands "
        "them on.",
        escaped(outcome.file));
  return fmt::format("Without it ({}): {}, now {}; {}.", escaped(outcome.file), rate(outcome, outcome.before),
                     rate(outcome, outcome.came), predicted_text(outcome));
}

std::string tried_text(const Tried& tried) {
  if (!tried.refused.empty() && tried.settings == "memory-plan")
    return fmt::format("LOTUS_TRY=memory-plan was refused, so nothing was moved: {}.",
                       escaped(tried.refused));
  if (!tried.refused.empty())
    return fmt::format("LOTUS_TRY={} was refused for a loader that stayed as the program makes it: {}.",
                       escaped(tried.settings), escaped(tried.refused));
  const std::string instead =
      tried.instead.empty() ? "" : ", where the program has " + escaped(tried.instead);
  return fmt::format("Tried: {}{}.", escaped(tried.settings), instead);
}

Json achieved_json(const TrialOutcome& outcome, const Achieved& achieved) {
  if (outcome.taken_elsewhere) return {{"images_per_s", nullptr}, {"waited_percent", nullptr}};
  return {{"images_per_s", achieved.images_per_s()}, {"waited_percent", achieved.waited_percent()}};
}

Json range_json(const Range& range) { return Json::array({range.low, range.high}); }

Json outcome_json(const TrialOutcome& outcome) {
  Json json = {
      {"file", outcome.file}, {"before", achieved_json(outcome, outcome.before)}, {"predicted", nullptr}};
  if (outcome.predicted) {
    json["predicted"] = achieved_json(outcome, outcome.predicted->achieved);
    json["predicted"]["images_per_s_interval"] = range_json(outcome.predicted->images_per_s);
    json["predicted"]["waited_percent_interval"] = range_json(outcome.predicted->waited_percent);
  }
  json["came"] = achieved_json(outcome, outcome.came);
  json["as_predicted"] = outcome.predicted ? Json(outcome.as_predicted()) : Json(nullptr);
  return json;
}

std::vector<std::string> sentences(const Findings& findings) {
  std::vector<std::string> out;
  for (const Tried& tried : findings.tried) out.push_back(tried_text(tried));
  if (findings.trial) out.push_back(outcome_text(*findings.trial));
  return out;
}

}  // namespace

std::string trial_text(const Findings& findings, const Terminal& terminal) {
  std::string out;
  for (const auto& sentence : sentences(findings))
    out += terminal.styled(Style::bold, wrapped(sentence, terminal.width)) + "\n";
  return out;
}

Json trial_json(const Findings& findings) {
  if (findings.tried.empty()) return nullptr;
  Json loaders = Json::array();
  for (const Tried& tried : findings.tried)
    loaders.push_back({{"instead", tried.instead},
                       {"refused", tried.refused.empty() ? Json(nullptr) : Json(tried.refused)}});
  return {{"settings", findings.tried.front().settings},
          {"messages", sentences(findings)},
          {"loaders", loaders},
          {"against", findings.trial ? outcome_json(*findings.trial) : Json(nullptr)}};
}

}  // namespace lotus::analyzer
