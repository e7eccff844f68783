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

}  // namespace

void add_facts(Json& report, const Facts& facts) { report["sampler"] = sampler_json(facts.sampler); }

}  // namespace lotus::analyzer
