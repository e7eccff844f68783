#include <algorithm>
#include <nlohmann/json.hpp>

#include "answers/stacks/map_views.hpp"
#include "text/json_number.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json tally_json(const Tally& tally) {
  return {{"samples", tally.samples}, {"cpu_s", tally.cpu_ns / kNsPerS}};
}

Json entry_json(const EntryPoint& point) {
  return {{"calls", point.calls},
          {"total_s", point.ns / kNsPerS},
          {"bytes", point.bytes},
          {"estimated", point.estimated}};
}

const char* naming_of(const NamedFrame& frame) {
  return frame.by_code() ? "code" : frame.by_address() ? "address" : "symbol";
}

Json function_json(const FunctionShare& function) {
  Json json = {{"function", function.frame.name},
               {"library", function.frame.library},
               {"file", function.frame.file.empty() ? Json(nullptr) : Json(function.frame.file)},
               {"named_by", naming_of(function.frame)},
               {"under", function.under.empty() ? Json(nullptr) : Json(function.under)},
               {"line", function.frame.line == 0 ? Json(nullptr) : Json(function.frame.line)},
               {"listed", function.listed},
               {"samples", function.self.samples},
               {"share_percent", 100 * function.share},
               {"share_percent_low", 100 * function.interval.low},
               {"share_percent_high", 100 * function.interval.high},
               {"self_s", function.self.cpu_ns / kNsPerS},
               {"total_samples", function.total.samples},
               {"total_s", function.total.cpu_ns / kNsPerS}};
  json["exact"] = function.exact ? entry_json(*function.exact) : Json(nullptr);
  return json;
}

Json functions_json(const std::vector<FunctionShare>& functions) {
  Json list = Json::array();
  for (const auto& function : functions) list.push_back(function_json(function));
  return list;
}

Json op_json(const OpMap& op) {
  static constexpr const char* kRoles[] = {"transform", "frame", "loader", "collate", "runner"};
  Json json = {{"name", op.op.name},
               {"qualified", op.op.qualified},
               {"role", kRoles[static_cast<std::size_t>(op.op.role)]},
               {"calls", op.calls},
               {"wall_s", op.wall_ns / kNsPerS},
               {"samples", op.all.samples},
               {"effective_samples", op.all.effective()},
               {"cpu_s", op.all.cpu_ns / kNsPerS},
               {"smallest_seen_percent", 100 * op.smallest()},
               {"runs_for_one_percent", number_or_null(op.runs_for_one_percent())},
               {"on_behalf_samples", op.on_behalf},
               {"cut_samples", op.cut},
               {"interpreter", tally_json(op.interpreter)},
               {"tracer", tally_json(op.tracer)},
               {"unnamed", tally_json(op.unnamed)}};
  json["functions"] = functions_json(op.functions);
  json["python_functions"] = functions_json(op.python);
  json["entry_points"] = Json::array();
  for (const auto& [name, point] : op.entry_points) {
    Json entry = {{"function", name.first}, {"library", name.second}};
    entry.update(entry_json(point));
    json["entry_points"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

Json map_json(const FunctionMap& map) {
  Json op_to_func = Json::object();
  std::map<std::string, std::vector<std::string>> ops_of;  // by function|library
  for (const auto& op : map.ops) {
    if (op.op.role == OpRole::runner) continue;  // no operation in the research system's map
    Json& list = op_to_func[op.op.name];
    if (list.is_null()) list = Json::array();
    for (const auto& function : op.functions) {
      const std::string name = function.frame.name + "|" + function.frame.library;
      auto& ops = ops_of[name];
      const bool again = std::find(ops.begin(), ops.end(), op.op.name) != ops.end();
      if (!function.listed || again) continue;
      list.push_back(name);
      ops.push_back(op.op.name);
    }
  }
  Json common = Json::object();
  for (const auto& [name, ops] : ops_of)
    if (ops.size() > 1) common[name] = ops;
  return {{"op_to_func", op_to_func}, {"common_funcs_to_op", common}};
}

Json full_map_json(const FunctionMap& map) {
  Json json = {{"schema", 1},
               {"files", map.files},
               {"duration_s", map.duration_ns / kNsPerS},
               {"sampling",
                {{"hz", map.sampling.known ? Json(map.sampling.hz) : Json(nullptr)},
                 {"samples", map.sampling.samples},
                 {"lost", map.sampling.lost},
                 {"timers_refused", map.sampling.refused.has_value()},
                 {"in_calls_without_end", map.sampling.without_end}}},
               {"rule",
                {{"min_samples", map.rule.min_samples},
                 {"min_share_percent", 100 * map.rule.min_share},
                 {"interval", "Clopper and Pearson, 95 %"}}},
               {"outside_ops", tally_json(map.outside)},
               {"tracer", tally_json(map.tracer)}};
  json["ops"] = Json::array();
  for (const auto& op : map.ops) json["ops"].push_back(op_json(op));
  json.update(map_json(map));
  return json;
}

}  // namespace lotus::analyzer
