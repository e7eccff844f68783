#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "answers/memory/views.hpp"
#include "text/json_number.hpp"

namespace lotus::analyzer::memory {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json source_json(const SourceLine& source) {
  return {{"file", text_or_null(source.file)},
          {"line", source.line == 0 ? Json(nullptr) : Json(source.line)},
          {"function", text_or_null(source.function)}};
}

// Of the forward pass.
Json forward_json(const SourceLine& forward) {
  return forward.file.empty() ? Json(nullptr) : source_json(forward);
}

Json group_json(const Group& group) {
  Json json = {{"op", text_or_null(group.op)}};
  json.update(source_json(group.source));
  json["forward"] = forward_json(group.forward);
  json["bytes"] = group.bytes;
  json["older"] = group.older;
  json["storages"] = group.storages == 0 ? Json(nullptr) : Json(group.storages);
  json["role"] = key_of(group.role);
  json["largest"] = text_or_null(group.form);
  return json;
}

Json operator_json(const RecordedStep& step, std::size_t index) {
  if (index == RecordedStep::kNone) return nullptr;
  const Operator& at = step.step.operators[index];
  Json json = {{"op", at.name}, {"phase", name_of(at.phase)}};
  json.update(source_json(source_of(*step.process, at.place)));
  json["forward"] = forward_json(source_of(*step.process, at.forward));
  return json;
}

Json step_json(const RecordedStep& step) {
  return {{"process", step.process->pid},
          {"number", step.step.number},
          {"seconds", step.seconds},
          {"whole", step.is_whole()},
          {"ended", step.ended},
          {"trains", step.trains()},
          {"operators", step.step.operators.size()},
          {"live_before_bytes", step.live_known ? Json(step.live_before) : Json(nullptr)},
          {"live_after_bytes", step.ended && step.live_known ? Json(step.live_after) : Json(nullptr)},
          {"peak_bytes", step.peak_bytes},
          {"elsewhere_bytes", step.is_whole() && step.live_known ? Json(step.elsewhere) : Json(nullptr)},
          {"trains_elsewhere", step.trains_elsewhere()},
          {"page_faults", step.ended ? Json(step.faults) : Json(nullptr)},
          {"kernel_s", step.ended ? Json(step.system_s) : Json(nullptr)}};
}

Json live_json(const RecordedStep& step) {
  Json points = Json::array();
  for (const LivePoint& point : step.live) points.push_back({point.seconds, point.bytes});
  return points;
}

// Times in which the operators of one phase follow each other.
Json phases_json(const RecordedStep& step) {
  Json phases = Json::array();
  for (std::size_t i = 0; i < step.step.operators.size(); ++i) {
    const char* phase = name_of(step.step.operators[i].phase);
    if (phases.empty() || phases.back()["phase"] != phase)
      phases.push_back({{"phase", phase}, {"begin_s", step.begins_s[i]}, {"end_s", step.ends_s[i]}});
    phases.back()["end_s"] = step.ends_s[i];
  }
  return phases;
}

Json groups_json(const std::vector<Group>& groups) {
  Json json = Json::array();
  for (const Group& group : groups) json.push_back(group_json(group));
  return json;
}

const char* trend_key(Trend trend) {
  switch (trend) {
    case Trend::flat:
      return "flat";
    case Trend::rises:
      return "rises";
    case Trend::varies:
      return "varies";
    default:
      return "not known";
  }
}

Json growth_json(const Growth& growth) {
  const bool known = growth.steps >= 2;
  Json json = {{"trend", trend_key(growth.trend)},
               {"steps", growth.steps},
               {"bytes_per_step", known ? Json(growth.bytes_per_step) : Json(nullptr)},
               {"keeps_graphs", known ? Json(growth.keeps_graphs) : Json(nullptr)}};
  json["left_behind"] = groups_json(growth.groups);
  json["left_sometimes"] = groups_json(growth.sometimes);
  return json;
}

Json faults_json(const Faults& usual) {
  if (usual.steps == 0) return nullptr;
  return {{"steps", usual.steps},     {"page_faults", usual.faults},  {"kernel_s", usual.kernel_s},
          {"seconds", usual.seconds}, {"large_blocks", usual.blocks}, {"large_bytes", usual.bytes}};
}

Json roles_json(const MemoryAnswer& answer) {
  Json roles = Json::object();
  for (const auto& [role, bytes] : answer.by_role) roles[key_of(role)] = bytes;
  roles["workspace"] = answer.workspace_at_peak;
  return roles;
}

Json held_json(const MemoryAnswer& answer) {
  Json held = Json::array();
  for (const Group& group : answer.held_longer) {
    held.push_back(group_json(group));
    held.back()["byte_seconds"] = group.byte_seconds;
  }
  return held;
}

}  // namespace

Json memory_json(const std::vector<RecordedStep>& steps, const MemoryAnswer& answer) {
  Json json = {{"schema", 1}};
  json["steps"] = Json::array();
  for (const RecordedStep& step : steps) json["steps"].push_back(step_json(step));
  json["step"] = nullptr;
  for (const char* key : {"peak_bytes", "floor_bytes", "peak_at", "peak_s", "floor_at", "peak_by_role",
                          "growth", "faults", "storages_known"})
    json[key] = nullptr;
  for (const char* key : {"alive_at_peak", "held_longer", "live", "phases", "findings"})
    json[key] = Json::array();
  if (answer.step == nullptr) return json;
  const RecordedStep& step = *answer.step;
  json["step"] = {{"process", step.process->pid}, {"number", step.step.number}};
  json["peak_bytes"] = step.peak_bytes;
  json["peak_at"] = operator_json(step, step.peak_operator);
  if (answer.floor.op) {
    json["floor_bytes"] = answer.floor.bytes;
    json["floor_at"] = operator_json(step, *answer.floor.op);
  }
  json["peak_by_role"] = roles_json(answer);
  json["alive_at_peak"] = groups_json(answer.alive_at_peak);
  json["held_longer"] = held_json(answer);
  json["growth"] = growth_json(answer.growth);
  json["faults"] = faults_json(answer.faults);
  json["live"] = live_json(step);
  json["peak_s"] = step.peak_s;
  json["phases"] = phases_json(step);
  json["findings"] = memory_findings(steps, answer);
  json["storages_known"] = step.process->no_steps.empty();
  return json;
}

std::string memory_folded(const MemoryAnswer& answer) {
  if (answer.step == nullptr) return "";
  const RecordedStep& step = *answer.step;
  const auto part = [](std::string text) {
    for (char& c : text)
      if (c == ';' || c == '\n') c = ' ';
    return text;
  };
  std::map<std::string, std::uint64_t> bytes;
  for (std::size_t i = 0; i < step.lives.size(); ++i) {
    const Storage& storage = step.step.storages[i];
    const Life& life = step.lives[i];
    if (life.born_s > step.peak_s || (life.released_s <= step.peak_s && !storage.survives)) continue;
    std::string stack = name_of(life.role);
    for (const SourceLine& line : chain_of(*step.process, storage.place))
      stack += ";" + part(fmt::format("{} ({})", line.function, source_text(line)));
    if (storage.forward != 0)
      stack += ";" + part("backward of " + source_text(source_of(*step.process, storage.forward)));
    if (!life.made_by.empty()) stack += ";" + part(life.made_by);
    bytes[stack] += storage.bytes;
  }
  for (const Group& group : answer.alive_at_peak) {
    if (group.role != Role::untouched) continue;
    std::string stack = name_of(group.role);
    if (!group.source.file.empty())
      stack += ";" + part(fmt::format("{} ({})", group.source.function, source_text(group.source)));
    if (!group.op.empty()) stack += ";" + part(group.op);
    bytes[stack] += group.bytes;
  }
  std::string out;
  for (const auto& [stack, count] : bytes) out += fmt::format("{} {}\n", stack, count);
  return out;
}

}  // namespace lotus::analyzer::memory
