#include "answers/replay/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// The settings that the question does not change.
std::string list_of_unchanged(const std::vector<std::string>& names, const Question& question) {
  std::string text;
  for (const auto& name : names) {
    const bool named = std::any_of(question.ops.begin(), question.ops.end(),
                                   [&](const OpChange& op) { return op.name == name; });
    if (!named) text += (text.empty() ? "" : ", ") + escaped(name);
  }
  return text;
}

std::vector<std::string> notes_of(const Replay& replay, const Question& question, const Settings& asked) {
  const Recording& recording = replay.recording();
  std::vector<std::string> notes;
  const std::uint64_t kept = recording.kept();
  if (kept < recording.batches)
    notes.push_back(fmt::format("{} of {} batches are replayed, the others taken to be like them",
                                human_count(std::min(kept, kMostPlanned)), human_count(recording.batches)));
  if (!recording.transfer_known && asked.workers > 0)
    notes.emplace_back(
        "recorded without workers: that starting one takes 20 ms and moving a batch 2 ms is assumed");
  if (!recording.step_cpu_known)
    notes.emplace_back("how much CPU a training step takes was not recorded: none is assumed");
  if (recording.cores <= 0 && !question.cores)
    notes.emplace_back("the number of cores was not recorded: enough are assumed; --cores says how many");
  if (asked.pin_memory && !recording.loader.pin_memory)
    notes.emplace_back(
        "recorded without pinning: the pin thread is replayed, its copying assumed to take no time");
  for (const auto& op : question.ops) {
    const std::string kept_ops = list_of_unchanged(nested_in(recording, op.name), question);
    if (kept_ops.empty()) continue;
    notes.push_back(
        fmt::format("{} is changed without the operations that run inside of it: {} keep their time; to "
                    "change them as well, name them by --op, too",
                    escaped(op.name), kept_ops));
  }
  if (!asked.in_order && recording.loader.in_order)
    notes.emplace_back("in_order=False needs PyTorch 2.6 or later");
  return notes;
}

std::string interval(const Range& range, std::string (*text)(double)) {
  return fmt::format("[{}, {}]", text(range.low), text(range.high));
}

std::string yes_no(bool value) { return value ? "true" : "false"; }

void add_settings(Table& table, const Answer& answer) {
  const Settings now = settings_of(answer.replay.recording(), {});
  const Settings& then = answer.prediction.settings;
  const auto add = [&](const char* name, const std::string& before, const std::string& after) {
    table.add({name, before, before, after, before == after ? "" : "changed"});
  };
  add("workers", std::to_string(now.workers), std::to_string(then.workers));
  add("prefetch", std::to_string(now.prefetch), std::to_string(then.prefetch));
  if (now.in_order != then.in_order) add("in_order", yes_no(now.in_order), yes_no(then.in_order));
  if (now.pin_memory != then.pin_memory) add("pin_memory", yes_no(now.pin_memory), yes_no(then.pin_memory));
  if (now.persistent != then.persistent) add("persistent", yes_no(now.persistent), yes_no(then.persistent));
  if (now.cores != then.cores)
    add("cores", fmt::format("{:.0f}", now.cores), fmt::format("{:.0f}", then.cores));
}

std::string change_text(const Change& change) {
  return change.ns ? human_time(*change.ns) : fmt::format("{:g}×", change.factor.value_or(1));
}

void add_changes(Table& table, const Answer& answer) {
  const Recording& recording = answer.replay.recording();
  for (const auto& op : answer.question.ops) {
    const std::string mean = human_time(mean_of_op(recording, op.name).value_or(0));
    table.add({escaped(op.name), mean, mean, change_text(op.change), "changed"});
  }
  const Change& step = answer.question.step;
  if (step.factor || step.ns) {
    const std::string mean = human_time(mean_step(recording));
    table.add({"training step", mean, mean, change_text(step), "changed"});
  }
}

std::string closing(const Answer& answer) {
  const Replay& replay = answer.replay;
  return fmt::format(
      "Replayed with the recorded settings, the model is off by {:+.1f} % in {}/s and {:+.1f} points in "
      "the share waited; differences below that say nothing. [ ]: 90 % of {} replicas with resampled "
      "batches, widened by that error.",
      replay.rate_error_percent(), replay.recording().unit, replay.waited_error(), Replay::kReplicas);
}

Json settings_json(const Settings& s) {
  return {{"workers", s.workers},       {"prefetch", s.prefetch},     {"in_order", s.in_order},
          {"pin_memory", s.pin_memory}, {"persistent", s.persistent}, {"cores", s.cores}};
}

Json achieved_json(const Settings& settings, const Achieved& achieved, double epochs) {
  Json json = settings_json(settings);
  json["images_per_s"] = achieved.images_per_s();
  json["waited_percent"] = achieved.waited_percent();
  json["epoch_s"] = achieved.time / epochs / 1e9;
  return json;
}

Json range_json(const Range& range, double unit = 1) {
  return Json::array({range.low / unit, range.high / unit});
}

Json change_json(const Change& change) {
  if (change.ns) return {{"ms", *change.ns / 1e6}};
  return {{"factor", change.factor.value_or(1)}};
}

}  // namespace

Answer answer_of(const Replay& replay, const Question& question) {
  Answer answer{replay, question, replay.predict(question), {}};
  answer.notes = notes_of(replay, question, answer.prediction.settings);
  return answer;
}

std::string answer_text(const Answer& answer, const Terminal& terminal) {
  const Replay& replay = answer.replay;
  const Recording& recording = replay.recording();
  const Achieved& now = recording.achieved;
  const Achieved& again = replay.replayed().achieved;
  const Prediction& then = answer.prediction;
  const auto epochs = static_cast<double>(recording.all_epochs);
  Table table({{.right = false},
               {"recorded"},
               {.title = "replayed", .importance = 1},
               {.title = "asked", .style = Style::bold},
               {.right = false, .importance = 2, .style = Style::dim}});
  add_settings(table, answer);
  add_changes(table, answer);
  table.add({recording.unit + "/s", human_rate(now.images_per_s()), human_rate(again.images_per_s()),
             human_rate(then.achieved.images_per_s()), interval(then.images_per_s, human_rate)});
  table.add({"waited", human_percent(now.waited_percent()), human_percent(again.waited_percent()),
             human_percent(then.achieved.waited_percent()), interval(then.waited_percent, human_percent)});
  table.add({"epoch", human_time(now.time / epochs), human_time(again.time / epochs),
             human_time(then.epoch_ns), interval(then.epoch_range, human_time)});
  const std::string about =
      fmt::format("{}, loader {} ({}), {} batches of {} epoch{}", escaped(recording.file),
                  recording.loader.id, escaped(recording.loader.dataset), human_count(recording.batches),
                  recording.all_epochs, recording.all_epochs == 1 ? "" : "s");
  std::string out = terminal.styled(Style::dim, wrapped(about, terminal.width)) + "\n" + table.text(terminal);
  out += wrapped(closing(answer), terminal.width) + "\n";
  for (const auto& note : answer.notes) out += wrapped("Note: " + note + ".", terminal.width) + "\n";
  return out;
}

Json answer_json(const Answer& answer) {
  const Replay& replay = answer.replay;
  const Recording& recording = replay.recording();
  const Settings settings = settings_of(recording, {});
  const auto epochs = static_cast<double>(recording.all_epochs);
  Json json = {{"schema", 1}, {"file", recording.file}};
  json["loader"] = {
      {"pid", recording.pid}, {"id", recording.loader.id}, {"dataset", recording.loader.dataset}};
  json["batches"] = recording.batches;
  json["unit"] = recording.unit;
  json["recorded"] = achieved_json(settings, recording.achieved, epochs);
  Json replayed = achieved_json(settings, replay.replayed().achieved, epochs);
  replayed["images_per_s_error_percent"] = replay.rate_error_percent();
  replayed["waited_error_points"] = replay.waited_error();
  json["replayed"] = std::move(replayed);
  const Prediction& then = answer.prediction;
  Json asked = achieved_json(then.settings, then.achieved, epochs);
  Json ops = Json::object();
  for (const auto& op : answer.question.ops) ops[op.name] = change_json(op.change);
  asked["ops"] = std::move(ops);
  asked["train_step"] = change_json(answer.question.step);
  asked["images_per_s_interval"] = range_json(then.images_per_s);
  asked["waited_percent_interval"] = range_json(then.waited_percent);
  asked["epoch_s_interval"] = range_json(then.epoch_range, 1e9);
  json["asked"] = std::move(asked);
  json["notes"] = answer.notes;
  return json;
}

}  // namespace lotus::analyzer
