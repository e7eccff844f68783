// `whatif`: predicts the effect of a change of the loader, an operation or the training step.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "answers/replay/answer.hpp"
#include "answers/report/collector.hpp"
#include "commands/command.hpp"
#include "commands/recordings.hpp"
#include "commands/try_command.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct WhatifOptions {
  std::vector<std::string> traces, ops;
  std::string step;
  std::optional<std::uint64_t> loader;
  Question question;
  bool json = false, to_try = false;
};

// "0.5x" or "12ms" (ns, us, ms, s).
Change change_of(const std::string& option, const std::string& text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {{"x", 0},    {"ns", 1},   {"us", 1e3},
                                                                   {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const auto hit =
      std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& u) { return u.first == unit; });
  if (error != std::errc() || hit == std::end(kUnits) || !(value >= 0) || value > 1e9)
    throw WrongUsage(fmt::format("{} {}: give a factor, as 0.5x, or a time, as 12ms (ns, us, ms, s)", option,
                                 escaped(text)));
  Change change;
  (hit->second == 0 ? change.factor : change.ns) = hit->second == 0 ? value : value * hit->second;
  return change;
}

// Names may contain =; the change follows the last one.
OpChange op_change(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw WrongUsage(fmt::format("--op {}: give NAME=0.5x or NAME=12ms", escaped(text)));
  const std::string name = text.substr(0, equals);
  return {name, change_of("--op " + escaped(name), text.substr(equals + 1))};
}

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + escaped(name);
  return out;
}

void check_ops(const Recording& recording, const Question& question) {
  const auto names = op_names(recording);
  for (const auto& op : question.ops) {
    if (op.name == kOwnCode || std::find(names.begin(), names.end(), op.name) != names.end()) continue;
    throw WrongUsage(names.empty() ? fmt::format("--op {}: no operation was recorded", escaped(op.name))
                                   : fmt::format("--op {}: no such operation; there are {}", escaped(op.name),
                                                 list_of(names)));
  }
}

std::string loaders_of(const std::vector<Recording>& recordings) {
  std::vector<std::string> ids;
  ids.reserve(recordings.size());
  for (const auto& recording : recordings) ids.push_back(std::to_string(recording.loader.id));
  std::sort(ids.begin(), ids.end());
  return list_of(ids);
}

const Recording& chosen(const std::vector<Recording>& recordings, const WhatifOptions& options,
                        const std::string& path) {
  const Recording* found = recordings.empty() ? nullptr : &recordings.front();
  if (options.loader) {
    const auto hit = std::find_if(recordings.begin(), recordings.end(),
                                  [&](const Recording& r) { return r.loader.id == *options.loader; });
    if (hit == recordings.end() && !recordings.empty())
      throw WrongUsage(
          fmt::format("--loader {}: no such loader; there are {}", *options.loader, loaders_of(recordings)));
    if (hit != recordings.end()) found = &*hit;
  }
  if (found != nullptr && found->taken_elsewhere())
    throw Unusable(
        fmt::format("{}: another thread than training's takes the batches of loader {} and hands them on: "
                    "how long training waited for them, and what would change that, is not known; trace a "
                    "run in which training itself goes through the DataLoader",
                    escaped(path), found->loader.id));
  const std::uint64_t batches = found == nullptr ? 0 : found->kept();
  if (batches < kFewestToReplay)
    throw Unusable(
        fmt::format("{}: only {} batch{} of a DataLoader reached training; a replay needs {}: trace a "
                    "longer run",
                    escaped(path), batches, batches == 1 ? "" : "es", kFewestToReplay));
  return *found;
}

std::string trial_output(const TryCommand& command, const Answer& answer, bool json) {
  const bool any = !command.settings.empty();
  if (!json)
    return any ? fmt::format("# {}\n{}\n", command.about, escaped(command.line))
               : "# nothing to try: no setting that LOTUS_TRY can change is predicted to gain\n";
  nlohmann::ordered_json object = answer_json(answer);
  object["try"] = nullptr;
  if (any) object["try"] = {{"settings", command.settings}, {"command", command.line}};
  return json_text(object);
}

// The recordings; `whole`: all that the report's advice rests on.
Findings findings_of(Trace& trace, bool whole) {
  Findings findings;
  if (!whole) {
    findings.recordings = recordings_of(trace);
    return findings;
  }
  FindingsCollector collector;
  collector.begin(trace);
  collector.end(read_trace(trace, collector));
  return collector.take();
}

void answer(const WhatifOptions& options) {
  const auto paths = chosen_traces(options.traces);
  if (paths.size() > 1) throw WrongUsage("whatif replays one trace; name one");
  Question question = options.question;
  for (const auto& op : options.ops) question.ops.push_back(op_change(op));
  if (!options.step.empty()) question.step = change_of("--train-step", options.step);
  Output out;
  Trace trace(paths.front());
  const Findings findings = findings_of(trace, options.to_try);
  const Recording& recording = chosen(findings.recordings, options, paths.front());
  check_ops(recording, question);
  if (options.to_try) question = question_to_try(findings, recording, question);
  const Replay replay(recording);
  const Answer result = answer_of(replay, question);
  if (options.to_try)
    out.write(trial_output(try_command(trace, result), result, options.json));
  else if (options.json)
    out.write(json_text(answer_json(result)));
  else
    out.write(answer_text(result, Terminal::of(out.file())));
  out.close();
}

}  // namespace

Run prepare_whatif(CLI::App& app) {
  const auto options = std::make_shared<WhatifOptions>();
  Question& question = options->question;
  add_traces(app, options->traces);
  app.add_option("--workers", question.workers, "num_workers")->check(CLI::Range(0, 1024));
  app.add_option("--prefetch", question.prefetch, "prefetch_factor")->check(CLI::Range(1, 1024));
  app.add_option("--in-order", question.in_order, "true or false (PyTorch 2.6 and later)");
  app.add_option("--pin-memory", question.pin_memory, "true or false");
  app.add_option("--persistent", question.persistent, "persistent_workers: true or false");
  app.add_option("--cores", question.cores, "cores of the machine")->check(CLI::Range(1, 4096));
  app.add_option("--op", options->ops, "an operation takes 0.5x its time, or 12ms a call; repeatable")
      ->type_name("NAME=CHANGE")
      ->allow_extra_args(false);
  app.add_option("--train-step", options->step, "the training step takes 0.5x its time, or 12ms")
      ->type_name("CHANGE");
  app.add_option("--loader", options->loader,
                 "id of the loader; default: the one that training waited for longest");
  app.add_flag("--try", options->to_try,
               "print the command line that tries the question's settings, else those that gain most");
  app.add_flag("--json", options->json, "the same facts as one JSON object");
  return [options] { answer(*options); };
}

}  // namespace lotus::analyzer
