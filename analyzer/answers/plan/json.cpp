#include <nlohmann/json.hpp>

#include "answers/memory/recorded_step.hpp"
#include "answers/plan/account.hpp"
#include "answers/plan/views.hpp"
#include "text/json_number.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

using Json = nlohmann::ordered_json;

Json index_or_null(const std::optional<std::size_t>& index) { return value_or_null(index); }

Json source_json(const Input& input, std::uint64_t place) {
  const auto found = input.places.find(place);
  if (found == input.places.end()) return {{"file", nullptr}, {"line", nullptr}};
  return {{"file", found->second.file}, {"line", found->second.line}};
}

Json operator_json(const Answer& answer, std::size_t index) {
  const auto& op = answer.planned.step.operators[index];
  Json json = {{"index", index}, {"name", op.name}, {"phase", name_of(op.phase)}};
  json.update(source_json(answer.input, op.place));
  return json;
}

Json cost_model_json(const Rules& rules) {
  return {{"kind", rules.kernels.factors.empty() ? "modelled" : "kernel table"},
          {"kernel_table", rules.kernels.file.empty() ? Json(nullptr) : Json(rules.kernels.file)},
          {"read_bytes_per_s", rules.tier.read},
          {"write_bytes_per_s", rules.tier.write},
          {"latency_s", rules.tier.latency},
          {"fast_bytes_per_s", rules.tier.fast},
          {"persistent_fast", rules.persistent_fast}};
}

void add_operands(Json& json, const Account& account) {
  json["num_input_tensors"] = account.inputs.count;
  json["num_fast_input_tensors"] = account.inputs.fast_count;
  json["num_output_tensors"] = account.outputs.count;
  json["num_fast_output_tensors"] = account.outputs.fast_count;
  json["bytes_input_tensors"] = account.inputs.bytes;
  json["bytes_fast_input_tensors"] = account.inputs.fast_bytes;
  json["bytes_output_tensors"] = account.outputs.bytes;
  json["bytes_fast_output_tensors"] = account.outputs.fast_bytes;
}

Json configs_json(const Account& account) {
  Json list = Json::array();
  for (const auto& [config, count] : account.configs)
    list.push_back({{"inputs", config.inputs},
                    {"slow_inputs", config.slow_inputs},
                    {"outputs", config.outputs},
                    {"slow_outputs", config.slow_outputs},
                    {"num_kernels", count}});
  return list;
}

Json run_json(const Answer& answer, const Run& run) {
  const Planned& planned = answer.planned;
  const Account account = account_of(planned, run);
  const Outcome& outcome = run.outcome;
  Json json = {{"mode", name_of(run.mode)},
               {"ratio", run.limit.ratio.empty() ? Json(nullptr) : Json(run.limit.ratio)},
               {"fast_limit_bytes", run.limit.bytes},
               {"solver", run.solver.empty() ? Json(nullptr) : Json(run.solver)},
               {"status", run.status},
               {"mip_gap", number_or_null(run.gap)},
               {"note", run.note.empty() ? Json(nullptr) : Json(run.note)},
               {"creation_time_s", run.creation_seconds},
               {"optimization_time_s", run.optimization_seconds},
               {"predicted_runtime_s", outcome.seconds},
               {"base_runtime_s", planned.all_fast_seconds},
               {"oracle_time_s", outcome.seconds - outcome.move_seconds},
               {"move_time_s", outcome.move_seconds}};
  json["slowdown"] = planned.all_fast_seconds > 0 ? number_or_null(outcome.seconds / planned.all_fast_seconds)
                                                  : Json(nullptr);
  json["speedup_over_all_slow"] =
      outcome.seconds > 0 ? number_or_null(planned.all_slow_seconds / outcome.seconds) : Json(nullptr);
  json["memory_cost"] = number_or_null(memory_cost(run.limit.bytes, planned.peak, answer.cost_ratio));
  json["num_kernels"] = planned.step.operators.size();
  json["num_move_nodes"] = account.to_slow + account.to_fast;
  json["num_to_slow"] = account.to_slow;
  json["num_to_fast"] = account.to_fast;
  json["num_dropped"] = account.dropped;
  json["bytes_moved"] = account.bytes_to_slow + account.bytes_to_fast;
  json["bytes_moved_to_slow"] = account.bytes_to_slow;
  json["bytes_moved_to_fast"] = account.bytes_to_fast;
  add_operands(json, account);
  json["fast_peak_bytes"] = account.fast_peak;
  json["slow_peak_bytes"] = account.slow_peak;
  json["config_map"] = configs_json(account);
  return json;
}

Json moves_json(const Decision& decision) {
  Json list = Json::array();
  for (const Move& move : decision.moves)
    list.push_back({{"before_operator", move.before},
                    {"to", move.to_fast ? "fast" : "slow"},
                    {"copied", move.copied},
                    {"seconds", move.seconds}});
  return list;
}

// What identifies it among what autograd saves; null: the plan is none that a program carries out.
Json saved_json(const Planned& planned, std::size_t run, std::size_t storage) {
  if (planned.runs[run].mode != Mode::offload) return nullptr;
  Json list = Json::array();
  for (const Offloadable& each : planned.offload.storages)
    if (each.storage == storage)
      for (const SavedUse& use : each.uses)
        list.push_back({{"operator", use.op}, {"argument", index_or_null(use.argument)}});
  return list;
}

Json decision_json(const Answer& answer, std::size_t run, const Decision& decision) {
  const auto& storage = answer.planned.step.storages[decision.storage];
  Json json = {{"run", run}, {"storage", decision.storage}, {"bytes", storage.bytes}};
  json["older"] = storage.older;
  json["survives"] = storage.survives;
  json["born"] = storage.born;
  json["released"] = storage.released;
  json["producer"] = storage.maker ? operator_json(answer, *storage.maker) : Json(nullptr);
  json.update(source_json(answer.input, storage.place));
  json["start"] = decision.starts_fast ? "fast" : "slow";
  json["action"] = decision.moves.empty() ? "slow" : "move";
  json["last_fast_use"] = index_or_null(decision.last_fast_use);
  json["next_use"] = index_or_null(decision.next_use);
  json["moves"] = moves_json(decision);
  json["saved"] = saved_json(answer.planned, run, decision.storage);
  json["seconds"] = decision.seconds;
  return json;
}

Json sizes_json(const memory::Step& step) {
  Json list = Json::array();
  for (const auto& [bytes, count] : sizes_of(step)) list.push_back({{"bytes", bytes}, {"count", count}});
  return list;
}

}  // namespace

Json plans_json(const Answer& answer) {
  const Planned& planned = answer.planned;
  Json json = {{"schema", 1}, {"note", model_note(planned.rules)}, {"notes", answer.notes}};
  json["step"] = {{"number", planned.step.number},
                  {"alike", answer.alike},
                  {"of", answer.of},
                  {"operators", planned.step.operators.size()},
                  {"storages", planned.step.storages.size()}};
  json["cost_model"] = cost_model_json(planned.rules);
  json["cost_ratio"] = answer.cost_ratio;
  json["io_bytes"] = io_bytes(planned.step);
  json["default_alloc_bytes"] = planned.peak;
  json["floor_bytes"] = planned.floor.bytes;
  json["floor_operator"] = planned.floor.op ? operator_json(answer, *planned.floor.op) : Json(nullptr);
  json["offload_floor_bytes"] = least_of_offload(planned).bytes;
  json["all_fast_s"] = planned.all_fast_seconds;
  json["all_slow_s"] = planned.all_slow_seconds;
  json["tensor_size_map"] = sizes_json(planned.step);
  json["runs"] = Json::array();
  json["plan"] = Json::array();
  for (std::size_t i = 0; i < planned.runs.size(); ++i) {
    json["runs"].push_back(run_json(answer, planned.runs[i]));
    for (const Decision& decision : decisions_of(planned, planned.runs[i]))
      json["plan"].push_back(decision_json(answer, i, decision));
  }
  return json;
}

}  // namespace lotus::analyzer::memory_plan
