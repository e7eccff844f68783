#include "showing/html/run_facts.hpp"

#include <nlohmann/json.hpp>

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPrograms = 32;

Json program_json(const Process& process) {
  return {{"pid", process.pid},
          {"training", !process.iterators.empty()},
          {"program", process.program},
          {"arguments", process.arguments},
          {"directory", process.directory},
          {"host", process.host},
          {"architecture", process.architecture},
          {"cores", process.cores},
          {"python", process.python},
          {"torch", process.torch}};
}

}  // namespace

Json run_facts(const Trace& trace, const Reading& reading) {
  Json json = {{"file", trace.source.path()},
               {"bytes", trace.source.size()},
               {"format", trace.header.version},
               {"created_ns", trace.header.created.realtime_ns},
               {"clock", trace.clock.source() == ClockSource::tsc ? "tsc" : "monotonic"},
               {"processes", trace.catalog.processes().size()},
               {"programs", Json::array()},
               {"damage", Json::array()}};
  for (const bool training : {true, false})  // those that train first
    for (const auto& [number, process] : trace.catalog.processes())
      if (!process->worker_of && process->iterators.empty() != training &&
          json["programs"].size() < kMostPrograms)
        json["programs"].push_back(program_json(*process));
  for (const Damage* damage : {&trace.damage, &reading.damage})
    for (const auto& range : damage->ranges)
      json["damage"].push_back({{"offset", range.offset}, {"bytes", range.bytes}, {"what", range.what}});
  return json;
}

}  // namespace lotus::analyzer
