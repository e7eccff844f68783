#include "answers/controlflow/compiled_views.hpp"
#include "answers/controlflow/views.hpp"

namespace lotus::analyzer::controlflow {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNs = 1e9;

const char* name_of(ConstructKind kind) {
  switch (kind) {
    case ConstructKind::loop:
      return "loop";
    case ConstructKind::branch:
      return "branch";
    default:
      return "recursion";
  }
}

// Of a call, from the sum over several.
Json parts_json(const Parts& parts, double calls = 1) {
  return {{"native_s", parts.native / kNs / calls},
          {"control_s", parts.control / kNs / calls},
          {"python_s", parts.python / kNs / calls},
          {"tracing_s", parts.tracing / kNs / calls}};
}

Json ladder_json(const RegionAnswer& answer) {
  const Ladder ladder = answer.ladder();
  return {{"as_is_s", ladder.as_is / kNs},
          {"without_control_s", ladder.without_control / kNs},
          {"straight_line_s", ladder.straight_line / kNs},
          {"compiled_s", {ladder.compiled_low / kNs, ladder.compiled_high / kNs}},
          {"operators_s", ladder.operators / kNs}};
}

Json region_json(const RegionAnswer& answer) {
  Json json = {{"name", answer.name},
               {"process", answer.process->pid},
               {"calls", answer.recorded},
               {"used_calls", answer.used},
               {"incomplete_calls", answer.incomplete},
               {"timed_calls", answer.timed},
               {"timed_s", answer.timed == 0 ? Json(nullptr) : Json(answer.timed_ns / kNs)},
               {"wall_s", answer.parts.all() / kNs}};
  json.update(parts_json(answer.parts));
  json["overhead"] = answer.overhead();
  json["what_if"] =
      answer.gain_is_known() ? Json({answer.speedup_low(), answer.speedup_high()}) : Json(nullptr);
  json["waited_s"] = answer.waited_ns ? Json(*answer.waited_ns / kNs) : Json(nullptr);
  json["overhead_range"] = {answer.waits() ? answer.overhead_low() : answer.overhead(), answer.overhead()};
  json["nothing_to_gain"] = answer.overhead() < kNothingToGain;
  json["gain"] = gain_text(answer);
  json["operators"] = answer.operators;
  json["control_operators"] = answer.control_operators;
  json["python_calls"] = answer.python_calls;
  json["outside"] = parts_json(answer.outside);
  json["around"] = Json::array();
  for (const memory::SourceLine& loop : answer.around)
    json["around"].push_back({{"file", loop.file}, {"line", loop.line}, {"function", loop.function}});
  json["ladder"] = ladder_json(answer);
  json["calls_seen"] = answer.calls_seen;
  json["lower_bound"] = answer.lower_bound || !answer.calls_seen;
  json["tracing_known"] = answer.cost_known;
  json["bytecode_known"] = answer.codes_known;
  json["compiled"] = answer.compiled;
  json["compilation"] = compilation_json(answer.compilation, answer.parts);
  json["findings"] = control_flow_findings(answer);
  return json;
}

Json share_of(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? Json(nullptr) : Json(static_cast<double>(part) / static_cast<double>(all));
}

// A mean that is a whole number is one.
Json count_json(const RegionAnswer& answer, std::uint64_t count) {
  if (count % answer.used == 0) return count / answer.used;
  return answer.per_call(count);
}

Json skip_json(const ConstructAnswer& construct) {
  const ConstructAnswer::Skip skip = construct.skip();
  if (!skip.known) return nullptr;
  return {{"costly_side", skip.costly_is_taken ? "taken" : "not taken"},
          {"costly_s", skip.costly_ns / kNs},
          {"cheap_s", skip.cheap_ns / kNs},
          {"decision_s", skip.decision_ns / kNs},
          {"executed_share", skip.executed},
          {"net_benefit_s", skip.benefit_ns / kNs},
          {"break_even_share", skip.break_even}};
}

Json construct_json(const RegionAnswer& answer, std::size_t region, const ConstructAnswer& construct) {
  const Construct& sums = construct.sums;
  const auto calls = static_cast<double>(answer.used);
  Json json = {{"kind", name_of(construct.kind)},
               {"region", region},
               {"file", construct.source.file},
               {"line", construct.source.line},
               {"function", construct.source.function}};
  for (const char* key :
       {"entries", "iterations", "calls", "depth", "taken", "not_taken", "unknown", "taken_share"})
    json[key] = nullptr;
  json["data_dependent"] = sums.data_dependent;
  json["lower_bound"] = sums.lower_bound;
  json["exact"] = sums.exact;
  if (construct.kind == ConstructKind::branch) {
    json["taken"] = count_json(answer, sums.taken);
    json["not_taken"] = count_json(answer, sums.not_taken);
    json["unknown"] = count_json(answer, sums.unknown);
    json["taken_share"] = share_of(sums.taken, sums.is_known() ? sums.visits() : 0);
    json["test"] = parts_json(sums.test, calls);
    json["taken_time"] = parts_json(sums.taken_time, calls);
    json["not_taken_time"] = parts_json(sums.not_taken_time, calls);
    json["skip"] = skip_json(construct);
    return json;
  }
  json["within"] = parts_json(sums.within, calls);
  json["own"] = parts_json(sums.own, calls);
  if (construct.kind == ConstructKind::loop && sums.data_dependent)
    json["test"] = parts_json(sums.test, calls);
  json["operators"] = count_json(answer, sums.operators);
  if (construct.kind == ConstructKind::loop) {
    json["statement"] = construct.is_for ? "for" : "while";
    json["entries"] = count_json(answer, sums.entries);
    const bool counted = !sums.unseen || sums.iterations > 0;
    json["iterations"] = counted ? count_json(answer, sums.iterations) : Json(nullptr);
    json["unseen"] = sums.unseen;
    return json;
  }
  json["calls"] = count_json(answer, sums.calls);
  json["depth"] = sums.depth;
  json["by_depth"] = Json::array();
  for (std::size_t i = 0; i < sums.calls_by_depth.size(); ++i) {
    Json row = {{"depth", i + 1}, {"calls", count_json(answer, sums.calls_by_depth[i])}};
    row.update(parts_json(i < sums.by_depth.size() ? sums.by_depth[i] : Parts{}, calls));
    json["by_depth"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

Json control_flow_json(const std::vector<RegionAnswer>& answers) {
  Json json = {{"schema", 1}, {"regions", Json::array()}, {"constructs", Json::array()}};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    json["regions"].push_back(region_json(answers[i]));
    for (const ConstructAnswer& construct : answers[i].constructs)
      json["constructs"].push_back(construct_json(answers[i], i, construct));
  }
  return json;
}

}  // namespace lotus::analyzer::controlflow
