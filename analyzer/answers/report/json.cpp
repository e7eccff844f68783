#include <nlohmann/json.hpp>

#include "answers/counters/ratios.hpp"
#include "answers/report/facts_json.hpp"
#include "answers/report/report.hpp"
#include "answers/report/shares.hpp"
#include "answers/report/trial_views.hpp"
#include "answers/report/verdict.hpp"
#include "reading/trace/loader_facts.hpp"
#include "text/json_number.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// STATS, in ms; all null where there are no values.
Json stats_of(const Series& series) {
  const Summary s = series.summary();
  const std::pair<const char*, double> rows[] = {{"mean", s.mean}, {"std", s.std}, {"min", s.min},
                                                 {"p25", s.p25},   {"p50", s.p50}, {"p75", s.p75},
                                                 {"p90", s.p90},   {"p99", s.p99}, {"max", s.max}};
  Json json;
  for (const auto& [name, ns] : rows) json[name] = series.empty() ? Json(nullptr) : Json(ns / kNsPerMs);
  return json;
}

Json trace_json(const Findings& f) {
  const QualityFinding& q = f.quality;
  return {{"files", f.files.size()},
          {"paths", f.files},
          {"processes", f.processes},
          {"workers", f.workers.size()},
          {"cores", f.cores},
          {"duration_s", f.duration / kNsPerS},
          {"events", q.events},
          {"lost_events", q.lost_events},
          {"lost_definitions", q.lost_definitions},
          {"unrecorded_workers", q.unrecorded_workers},
          {"missing_workers", q.missing_workers},
          {"dropped_spans", q.dropped_spans},
          {"gaps", q.gaps},
          {"missing_loop_s", q.missing_loop / kNsPerS},
          {"open_spans", q.open_spans},
          {"timers_refused", q.without_timers},
          {"truncated", q.truncated},
          {"interrupted", q.interrupted},
          {"damaged_bytes", q.damage.bytes},
          {"damaged_ranges", q.damage.count},
          {"clock_calibrated", q.calibrated},
          {"python_calls", q.python_calls.count},
          {"overhead_percent", number_or_null(q.overhead_percent())}};
}

Json advice_json(const Advice& advice) {
  Json json = {{"action", advice.action},           {"message", advice.message},
               {"gain_percent", nullptr},           {"images_per_s", nullptr},
               {"images_per_s_interval", nullptr},  {"waited_percent", nullptr},
               {"waited_percent_interval", nullptr}};
  if (!advice.prediction) return json;
  const Prediction& then = *advice.prediction;
  json["gain_percent"] = advice.gain_percent;
  json["images_per_s"] = then.achieved.images_per_s();
  json["images_per_s_interval"] = {then.images_per_s.low, then.images_per_s.high};
  json["waited_percent"] = then.achieved.waited_percent();
  json["waited_percent_interval"] = {then.waited_percent.low, then.waited_percent.high};
  return json;
}

Json evidence_json(const Evidence& evidence) {
  const bool words = !evidence.words.empty();
  return {{"fact", evidence.fact},
          {"value", words ? Json(evidence.words) : Json(evidence.value)},
          {"unit", evidence.unit}};
}

Json held_json(const Judged& judged) {
  return {{"cause", name_of(judged.cause)},
          {"explains_percent", judged.judgement.explains},
          {"message", judged.judgement.words}};
}

// Without a replay the predictions' keys are missing.
void add_diagnosis(Json& json, const Findings& findings, const Diagnosis& diagnosis) {
  json["cause"] = name_of(diagnosis.cause());
  json["evidence"] = Json::array();
  for (const auto& evidence : diagnosis.held.front().judgement.evidence)
    json["evidence"].push_back(evidence_json(evidence));
  json["causes"] = Json::array();
  for (const auto& judged : diagnosis.held) json["causes"].push_back(held_json(judged));
  json["ruled_out"] = Json::array();
  for (const auto& judged : diagnosis.ruled_out)
    json["ruled_out"].push_back({{"cause", name_of(judged.cause)}, {"why", judged.judgement.words}});
  json["advice"] = Json::array();
  for (const auto& advice : diagnosis.advice) json["advice"].push_back(advice_json(advice));
  if (!diagnosis.error) return;
  json["unit"] = findings.recordings.front().unit;
  json["images_per_s"] = findings.recordings.front().achieved.images_per_s();
  json["waited_percent_of_loader"] = findings.recordings.front().achieved.waited_percent();
  json["model_error"] = {{"images_per_s_percent", diagnosis.error->rate_percent},
                         {"waited_points", diagnosis.error->waited_points}};
}

Json verdict_json(const Findings& findings) {
  const Verdict verdict = verdict_of(findings);
  const OpFinding* op = dominant_op(findings);
  Json json = {{"bound", name_of(verdict.bound)},
               {"waited_percent", number_or_null(verdict.waited_percent)},
               {"waited_s", findings.next / kNsPerS},
               {"loop_s", findings.loop / kNsPerS},
               {"dominant_op", op == nullptr ? Json(nullptr) : Json(op->op.name)},
               {"workers", value_or_null(verdict.workers)},
               {"workers_needed", value_or_null(verdict.workers_needed)},
               {"message", verdict.message}};
  add_diagnosis(json, findings, verdict.diagnosis);
  return json;
}

const char* name_of(OpRole role) {
  static constexpr const char* kNames[] = {"transform", "frame", "loader", "collate", "runner"};
  return kNames[static_cast<std::size_t>(role)];
}

Json native_json(const OpFinding& op, const Findings& findings) {
  const NativeFinding& native = op.native;
  const auto cpu = op.cpu_percent(findings);
  Json json = {{"cpu_percent", number_or_null(cpu)},
               {"off_cpu_percent", number_or_null(cpu ? std::optional(100 - *cpu) : std::nullopt)},
               {"file_io_percent", number_or_null(op.io_percent())},
               {"file_io_s", native.io.ns / kNsPerS},
               {"file_calls", native.io.calls},
               {"read_bytes", native.io.read},
               {"mapped_bytes", native.io.mapped},
               {"samples", native.samples},
               {"top_function", nullptr}};
  if (!native.function.empty())
    json["top_function"] = {{"function", native.function},
                            {"library", native.library},
                            {"under", native.under.empty() ? Json(nullptr) : Json(native.under)},
                            {"share_percent", 100 * native.share},
                            {"share_interval", {100 * native.interval.low, 100 * native.interval.high}}};
  return json;
}

Json op_json(const OpFinding& op, const Findings& findings) {
  const Summary s = op.wall.summary();
  const double median = s.p50 / kNsPerMs;
  return {{"name", op.op.name},
          {"count", s.count},
          {"total_s", op.wall.sum() / kNsPerS},
          {"self_s", op.self / kNsPerS},
          {"cpu_s", number_or_null(cpu_of(op, findings))},
          {"mean_ms", s.mean / kNsPerMs},
          {"std_ms", s.std / kNsPerMs},
          {"min_ms", s.min / kNsPerMs},
          {"median_ms", median},
          {"p25_ms", s.p25 / kNsPerMs},
          {"p50_ms", median},
          {"p75_ms", s.p75 / kNsPerMs},
          {"p90_ms", s.p90 / kNsPerMs},
          {"p99_ms", s.p99 / kNsPerMs},
          {"max_ms", s.max / kNsPerMs},
          {"share_percent", share_percent(op, findings)},
          {"under_10ms_percent", percent_or_null(op.under_10ms, s.count)},
          {"under_100us_percent", percent_or_null(op.under_100us, s.count)},
          {"errors", op.errors},
          {"tracing_percent", op.tracing_percent()},
          {"python_calls", op.python_calls.count},
          {"role", name_of(op.op.role)},
          {"qualified", op.op.qualified},
          {"file", op.op.file},
          {"line", op.op.line},
          {"native", native_json(op, findings)}};
}

// The reference's statistics, which are also made of what is above the trimming limit.
Json preprocess_json(const Series& series) {
  const Summary s = series.summary();
  Json json = {{"count", s.count}, {"total_s", series.sum() / kNsPerS}, {"preprocess_ms", stats_of(series)}};
  json["std_percent"] = percent_or_null(s.std, s.mean);
  json["iqr_ms"] = series.empty() ? Json(nullptr) : Json((s.p75 - s.p25) / kNsPerMs);
  return json;
}

Json batches_json(const Findings& f) {
  Json json = preprocess_json(f.fetch);
  const auto share = f.fetch_cpu_share();
  json["cpu_s"] = share ? Json(f.fetch.sum() * *share / kNsPerS) : Json(nullptr);
  json["failed"] = f.failed_batches;
  json["samples"] = f.unsized ? Json(nullptr) : Json(f.samples);
  json["sample_ms"] = stats_of(f.sample);
  json["trimmed"] = preprocess_json(f.fetch.at_least(f.fetch.summary().trimming_limit()));
  return json;
}

void add_shares(Json& json, std::string_view part, const Findings& f) {
  for (const Share& share : shares())
    if (share.part == part) json[std::string(share.key)] = number_or_null(share.percent(f));
}

Json wait_json(const Findings& f) {
  // A key keeps the place where it stands first: the share of the stall stands before the count.
  Json json = {{"count", f.wait.count()},
               {"total_s", f.wait.sum() / kNsPerS},
               {"stall_percent", nullptr},
               {"out_of_order", f.out_of_order}};
  add_shares(json, "wait", f);
  json["ms"] = stats_of(f.wait);
  return json;
}

Json delay_json(const Findings& f) {
  Json json = {{"count", f.delay.count()}};
  add_shares(json, "delay", f);
  json["ms"] = stats_of(f.delay);
  return json;
}

Json epochs_json(const EpochsFinding& epochs) {
  const auto in_ms = [](std::optional<double> ns) { return ns ? Json(*ns / kNsPerMs) : Json(nullptr); };
  return {{"batches", epochs.batches},
          {"preprocess_ms", in_ms(epochs.mean_fetch())},
          {"idle_ms", in_ms(epochs.mean_idle())},
          {"read_bytes", value_or_null(epochs.read)},
          {"waited_s", epochs.waited / kNsPerS},
          {"loop_s", epochs.loop / kNsPerS}};
}

Json loader_json(const LoaderFinding& finding) {
  Json json = {{"pid", finding.training->pid}};
  if (finding.loader) json.update(loader_facts(*finding.loader));
  json["epochs"] = finding.epochs;
  json["batches"] = finding.batches();
  json["epoch_batches"] = finding.epoch_batches > 0 ? Json(finding.epoch_batches) : Json(nullptr);
  json["waited_percent"] = number_or_null(finding.waited_percent());
  json["taken_elsewhere"] = finding.taken_elsewhere();
  json["preprocess_ms"] = stats_of(finding.fetch);
  json["wait_ms"] = stats_of(finding.wait);
  json["train_step_ms"] = stats_of(finding.train_step);
  json["first_epoch"] = epochs_json(finding.first_epoch);
  json["later_epochs"] = epochs_json(finding.later_epochs);
  return json;
}

Json worker_json(const WorkerFinding& worker, const Findings& findings) {
  Json json = {{"pid", worker.process->pid},
               {"id", worker.id},
               {"batches", worker.batches},
               {"busy_percent", number_or_null(worker.busy_percent())},
               {"fetch_s", worker.fetch / kNsPerS},
               {"lifetime_s", worker.life / kNsPerS},
               {"loader", nullptr}};
  if (worker.loader && findings.loaders[*worker.loader].loader)
    json["loader"] = findings.loaders[*worker.loader].loader->id;
  return json;
}

Json wait_in_fetch_json(const WaitFinding& wait) {
  return {{"op", wait.op.outside() ? Json(nullptr) : Json(wait.op.name)},
          {"function", wait.function.empty() ? Json(nullptr) : Json(wait.function)},
          {"file", wait.file.empty() ? Json(nullptr) : Json(wait.file)},
          {"line", wait.line == 0 ? Json(nullptr) : Json(wait.line)},
          {"through", wait.through.empty() ? Json(nullptr) : Json(wait.through)},
          {"call", wait.call},
          {"count", wait.tally.count},
          {"total_ms", wait.tally.ns / kNsPerMs},
          {"longest_ms", wait.tally.longest / kNsPerMs}};
}

Json sample_json(const SlowSample& sample) {
  return {{"index", sample.index},
          {"path", sample.path.empty() ? Json(nullptr) : Json(sample.path)},
          {"ms", static_cast<double>(sample.ns) / kNsPerMs},
          {"op", sample.op.empty() ? Json(nullptr) : Json(sample.op)},
          {"pid", sample.pid},
          {"first_of_worker", sample.first}};
}

template <class Row, class Make>
Json list_of(const std::vector<Row>& rows, Make make) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(make(row));
  return list;
}

Json unfinished_json(const Unfinished& work, const char* key, double ns) {
  const auto& worker = work.process->worker_of;
  return {{"pid", work.process->pid},
          {"worker", worker ? Json(worker->worker) : Json(nullptr)},
          {"in", work.name},
          {key, ns / kNsPerMs},
          {"batch", value_or_null(work.batch)},
          {"index", value_or_null(work.index)},
          {"path", work.path.empty() ? Json(nullptr) : Json(work.path)}};
}

Json cut_short_json(const CutShort& cut) { return unfinished_json(cut, "at_most_ms", cut.at_most); }

Json stuck_json(const Stuck& stuck) {
  Json json = unfinished_json(stuck, "at_least_ms", stuck.at_least);
  json["seen_ns"] = stuck.seen;
  json["frames"] = list_of(stuck.frames, [](const StandingFrame& frame) {
    return Json{{"function", frame.function},
                {"file", frame.file},
                {"line", frame.line == 0 ? Json(nullptr) : Json(frame.line)}};
  });
  return json;
}

Json lost_slots_json(const LostSlots& lost) {
  Json json = {{"op", lost.op.name}, {"qualified", lost.op.qualified}, {"to", Json::array()}};
  for (const LostSlots::To& to : lost.to)
    json["to"].push_back({{"part", to.key},
                          {"what", to.what},
                          {"percent", to.percent},
                          {"interval", {to.interval.low, to.interval.high}}});
  return json;
}

}  // namespace

Json report_json(const Findings& f) {
  Json json = {
      {"schema", 1}, {"trace", trace_json(f)}, {"tried", trial_json(f)}, {"verdict", verdict_json(f)}};
  json["control_flow"] = f.control_flow.empty() ? Json(nullptr) : Json(f.control_flow);
  json["ops"] = list_of(f.ops, [&](const auto& op) { return op_json(op, f); });
  json["outside_ops_s"] = f.outside_ops / kNsPerS;
  json["outside_ops_cpu_s"] = number_or_null(cpu_outside_ops(f));
  add_shares(json, "", f);
  json["batches"] = batches_json(f);
  json["wait"] = wait_json(f);
  json["delay"] = delay_json(f);
  json["train_step_ms"] = stats_of(f.train_step);
  json["queue"] = {
      {"samples", f.queue_samples},
      {"mean_depth",
       f.queue_samples == 0 ? Json(nullptr) : Json(f.queue_sum / static_cast<double>(f.queue_samples))},
      {"max_depth", f.queue_most}};
  json["transfer"] = {{"bytes", f.bytes},
                      {"serialize_ms", stats_of(f.serialize)},
                      {"send_ms", stats_of(f.send)},
                      {"deserialize_ms", stats_of(f.deserialize)}};
  json["pin"] = {{"count", f.pin.count()}, {"ms", stats_of(f.pin)}};
  add_facts(json, f);
  json["lost_slots"] = list_of(lost_slots(f.counters), lost_slots_json);
  json["waits_in_fetches"] = list_of(f.waits, wait_in_fetch_json);
  json["loaders"] = list_of(f.loaders, loader_json);
  json["workers"] = list_of(f.workers, [&](const auto& worker) { return worker_json(worker, f); });
  json["slow_samples"] = list_of(f.slow, sample_json);
  json["stuck"] = list_of(f.stuck, stuck_json);
  json["cut_short"] = list_of(f.cut_short, cut_short_json);
  return json;
}

}  // namespace lotus::analyzer
