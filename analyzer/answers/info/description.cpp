#include "answers/info/description.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reading/model/operator_hooks.hpp"
#include "reading/trace/loader_facts.hpp"
#include "text/json_number.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFrameTypes[] = {"",        "schema",  "process",     "definitions",
                                       "chunk",   "clock",   "process_end", "index",
                                       "trailer", "samples", "open_chunk"};

Json process_json(const Trace& trace, const Process& process, const Reading& reading) {
  Json json = {{"number", process.number},
               {"pid", process.pid},
               {"parent_pid", process.parent_pid},
               {"worker", process.worker_of ? Json(process.worker_of->worker) : Json(nullptr)},
               {"rank", process.rank ? Json(process.rank->rank) : Json(nullptr)},
               {"program", process.program},
               {"arguments", process.arguments},
               {"directory", process.directory},
               {"host", process.host},
               {"architecture", process.architecture},
               {"python", process.python},
               {"torch", process.torch},
               {"cores", process.cores},
               {"pair_cost_ps", process.pair_cost_ps}};
  const auto extent = reading.by_process.find(process.number);
  const bool any = extent != reading.by_process.end();
  json["records"] = any ? extent->second.records : 0;
  json["first_ns"] = any ? Json(trace.clock.ns(extent->second.first)) : Json(nullptr);
  json["last_ns"] = any ? Json(trace.clock.ns(extent->second.last)) : Json(nullptr);
  json["ended"] = process.end.has_value();
  json["ending"] = process.ending == Ending::left     ? Json("left")
                   : process.ending == Ending::killed ? Json("killed")
                                                      : Json(nullptr);
  if (!process.end) return json;
  const ProcessEndFrame& end = *process.end;
  json["lost_events"] = end.lost_events;
  json["lost_chunks"] = end.lost_chunks;
  json["lost_definitions"] = end.lost_definitions;
  json["dropped_spans"] = end.dropped_spans;
  json["off_reason"] = end.off_reason;
  json["damaged_records"] = end.damaged;
  return json;
}

Json threads_json(const Process& process) {
  Json list = Json::array();
  for (const auto& [stream, thread] : process.threads)
    list.push_back({{"stream", stream}, {"tid", thread.tid}, {"name", thread.name}});
  return list;
}

Json loaders_json(const Catalog& catalog) {
  Json list = Json::array();
  for (const auto& [number, process] : catalog.processes())
    for (const auto& [id, loader] : process->loaders) {
      Json facts = {{"pid", process->pid}};
      facts.update(loader_facts(loader));
      list.push_back(std::move(facts));
    }
  return list;
}

Json clock_json(const Trace& trace) {
  return {{"source", trace.clock.source() == ClockSource::tsc ? "tsc" : "monotonic"},
          {"ns_per_tick", trace.clock.ns_per_tick()},
          {"baseline_s", static_cast<double>(trace.clock.baseline_ns()) / 1e9},
          {"calibrated", trace.clock.calibrated()}};
}

// The settings of stack sampling; null if there was none. Processes of one session differ only if the kernel
// refused a clock to some.
Json sampling_json(const Trace& trace) {
  for (const auto& [number, process] : trace.catalog.processes())
    if (process->sampling && process->sampling->hz > 0)
      return {
          {"hz", process->sampling->hz},
          {"clock",
           process->sampling->source == static_cast<std::uint64_t>(SampleSource::perf) ? "perf" : "timer"}};
  return nullptr;
}

Json frames_json(const Trace& trace) {
  Json json = Json::object();
  std::uint64_t unknown = 0;
  for (std::size_t type = 0; type < 256; ++type) {
    const std::uint64_t count = trace.frames.by_type[type];
    if (type > 0 && type < std::size(kFrameTypes))
      json[kFrameTypes[type]] = count;
    else
      unknown += count;
  }
  json["unknown"] = unknown;
  json["salvaged_chunks"] = trace.frames.salvaged;
  return json;
}

Json damage_json(const Trace& trace, const Reading& reading) {
  Json ranges = Json::array();
  for (const Damage* damage : {&trace.damage, &reading.damage})
    for (const auto& range : damage->ranges)
      ranges.push_back({{"offset", range.offset}, {"bytes", range.bytes}, {"what", range.what}});
  return {{"count", trace.damage.count + reading.damage.count},
          {"bytes", trace.damage.bytes + reading.damage.bytes},
          {"events", reading.damage.events},
          {"ranges", ranges}};
}

// The number of batches in which PyTorch's operators were counted; null if there were none.
Json operators_json(const Trace& trace, const KindCounts& counts) {
  const auto& processes = trace.catalog.processes();
  const bool any = std::any_of(processes.begin(), processes.end(), [](const auto& process) {
    const auto& hooks = process.second->hooks;
    return std::any_of(hooks.begin(), hooks.end(),
                       [](const auto& hook) { return is_operator_hook(hook.second.library); });
  });
  if (!any) return nullptr;
  const std::uint64_t batches = counts[static_cast<std::size_t>(Kind::fetch)];
  const std::uint64_t spared = counts[static_cast<std::size_t>(Kind::no_operators)];
  return {{"batches", batches}, {"observed", batches - std::min(batches, spared)}};
}

Json records_json(const Trace& trace, const KindCounts& counts) {
  Json json = Json::object();
  for (std::size_t code = 0; code < counts.size(); ++code)
    if (counts[code] > 0) json[trace.schema.name(static_cast<Kind>(code))] = counts[code];
  return json;
}

}  // namespace

Json describe(const Trace& trace, const Reading& reading, const KindCounts& counts) {
  Json json = {{"schema", 1},
               {"file", trace.source.path()},
               {"bytes", trace.source.size()},
               {"version", trace.header.version},
               {"session_pid", trace.header.session_pid},
               {"created_ns", trace.header.created.realtime_ns},
               {"duration_s", static_cast<double>(trace.clock.duration_ns(reading.whole.ticks())) / 1e9},
               {"events", reading.whole.records},
               {"lost_events", std::max(trace.lost_events(), reading.lost_records)},
               {"truncated", trace.truncated()},
               {"interrupted", trace.trailer && trace.trailer->interrupted != 0},
               {"cut_off_at", value_or_null(trace.cut_off)},
               {"gaps", reading.gaps},
               {"open_spans", reading.open_spans},
               {"dropped_spans", reading.dropped_spans},
               {"unmatched_leaves", reading.unmatched_leaves},
               {"unrecorded_workers", trace.catalog.unrecorded_workers()}};
  json["damaged"] = damage_json(trace, reading);
  json["clock"] = clock_json(trace);
  json["sampling"] = sampling_json(trace);
  json["frames"] = frames_json(trace);
  json["operators"] = operators_json(trace, counts);
  json["records"] = records_json(trace, counts);
  json["loaders"] = loaders_json(trace.catalog);
  json["processes"] = Json::array();
  for (const auto& [number, process] : trace.catalog.processes()) {
    json["processes"].push_back(process_json(trace, *process, reading));
    json["processes"].back()["threads"] = threads_json(*process);
  }
  return json;
}

}  // namespace lotus::analyzer
