#include "answers/report/facts_json.hpp"

#include "text/json_number.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json sampler_json(const SamplerFinding& sampler) {
  const auto seconds = [&](double ns) { return sampler.calls > 0 ? Json(ns / kNsPerS) : Json(nullptr); };
  return {{"calls", sampler.calls},
          {"total_s", seconds(sampler.total())},
          {"first_s", seconds(sampler.first)},
          {"later_s", seconds(sampler.later)},
          {"waited_s", seconds(sampler.waited)},
          {"share_percent", number_or_null(sampler.share_percent())}};
}

Json lock_json(const LockFinding& lock, double fetch_time) {
  return {{"name", lock.name},
          {"waits", lock.waits},
          {"total_s", lock.total / kNsPerS},
          {"share_percent", percent_or_null(lock.total, fetch_time)},
          {"op", lock.op.empty() ? Json(nullptr) : Json(lock.op)}};
}

Json threads_json(const ThreadsFinding& threads) {
  return {{"most", threads.most > 0 ? Json(threads.most) : Json(nullptr)},
          {"at_once", number_or_null(threads.at_once())},
          {"others_percent", number_or_null(threads.others_percent())}};
}

Json memory_json(const MemoryFinding& memory) {
  const bool known = memory.pid != 0;
  return {{"pid", known ? Json(memory.pid) : Json(nullptr)},
          {"private_first_bytes", known ? Json(memory.first) : Json(nullptr)},
          {"private_last_bytes", known ? Json(memory.last) : Json(nullptr)},
          {"batches", known ? Json(memory.batches) : Json(nullptr)}};
}

Json faults_json(const FaultsFinding& faults) {
  const auto known = [&](auto value) { return faults.known ? Json(value) : Json(nullptr); };
  return {{"minor", known(faults.minor)},
          {"major", known(faults.major)},
          {"batches", known(faults.batches)},
          {"read_first_epochs_bytes", known(faults.read_first)},
          {"read_later_epochs_bytes", known(faults.read_later)}};
}

Json garbage_json(const Findings& findings) {
  const GarbageFinding& garbage = findings.facts.garbage;
  return {{"old_collections", garbage.known ? Json(garbage.old) : Json(nullptr)},
          {"batches", garbage.known ? Json(garbage.batches) : Json(nullptr)},
          {"calls", garbage.calls},
          {"called_s", garbage.called / kNsPerS},
          {"called_percent", percent_or_null(garbage.called, findings.fetch_time)},
          {"cpu_percent", garbage.sampled ? Json(100 * *garbage.sampled) : Json(nullptr)}};
}

Json interpreter_lock_json(const InterpreterLockFinding& lock) {
  return {{"waited_s", lock.known ? Json(lock.waited / kNsPerS) : Json(nullptr)},
          {"waiting_threads", number_or_null(lock.at_once())}};
}

Json dataset_call_json(const DatasetCall& call, double loop) {
  return {{"name", call.name},
          {"calls", call.calls},
          {"total_s", call.total / kNsPerS},
          {"share_percent", percent_or_null(call.total, loop)}};
}

Json reopened_json(const ReopenedFinding& file) {
  return {{"path", file.path},
          {"opens", file.opens},
          {"bytes", file.bytes},
          {"processes", file.processes},
          {"format", file.format.empty() ? Json(nullptr) : Json(file.format)},
          {"cpu_percent", file.cpu_share ? Json(100 * *file.cpu_share) : Json(nullptr)}};
}

}  // namespace

void add_facts(Json& report, const Findings& findings) {
  const Facts& facts = findings.facts;
  report["sampler"] = sampler_json(facts.sampler);
  report["locks"] = Json::array();
  for (const LockFinding& lock : facts.locks) report["locks"].push_back(lock_json(lock, findings.fetch_time));
  report["reopened"] = Json::array();
  for (const ReopenedFinding& file : facts.reopened) report["reopened"].push_back(reopened_json(file));
  report["threads"] = threads_json(facts.threads);
  report["interpreter_lock"] = interpreter_lock_json(facts.interpreter_lock);
  report["memory"] = memory_json(facts.memory);
  report["faults"] = faults_json(facts.faults);
  report["garbage"] = garbage_json(findings);
  report["dataset_calls"] = Json::array();
  for (const DatasetCall& call : facts.dataset_calls)
    report["dataset_calls"].push_back(dataset_call_json(call, findings.loop));
}

}  // namespace lotus::analyzer
