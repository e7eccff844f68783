#include <nlohmann/json.hpp>

#include "answers/ranks/ranks.hpp"
#include "text/json_number.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json mean_ms(const Durations& durations) {
  return durations.count == 0 ? Json(nullptr) : Json(durations.mean() / kNsPerMs);
}

Json rank_json(const RankFinding& rank) {
  Json json = {{"rank", rank.rank},
               {"local_rank", rank.local < 0 ? Json(nullptr) : Json(rank.local)},
               {"host", rank.host},
               {"pids", rank.training},
               {"workers", rank.workers.size()},
               {"batches", rank.batches},
               {"samples", rank.samples},
               {"images_per_s", number_or_null(rank.images_per_s())},
               {"loop_s", rank.loop / kNsPerS},
               {"waited_s", rank.taken_elsewhere() ? Json(nullptr) : Json(rank.next / kNsPerS)},
               {"waited_percent", number_or_null(rank.waited_percent())},
               {"preprocess_mean_ms", mean_ms(rank.fetch)},
               {"wait_mean_ms", mean_ms(rank.wait)},
               {"train_step_mean_ms", mean_ms(rank.step)}};
  json["ops"] = Json::array();
  for (const auto& [name, calls] : rank.ops)
    json["ops"].push_back({{"name", name},
                           {"count", calls.count},
                           {"total_s", calls.sum / kNsPerS},
                           {"mean_ms", mean_ms(calls)}});
  return json;
}

Json straggler_json(const Straggler& straggler) {
  Json json = {{"rank", straggler.rank->rank},
               {"waited_s", straggler.rank->next_later / kNsPerS},
               {"others_waited_s", straggler.others_next / kNsPerS},
               {"op", nullptr}};
  if (!straggler.op.empty())
    json["op"] = {{"name", straggler.op},
                  {"mean_ms", straggler.op_mean / kNsPerMs},
                  {"others_mean_ms", straggler.others_op_mean / kNsPerMs}};
  return json;
}

}  // namespace

Json ranks_json(const RankFindings& findings) {
  const auto straggler = straggler_of(findings);
  Json json = {{"schema", 1},
               {"paths", findings.files},
               {"world_size", findings.world},
               {"message", straggler_message(findings, straggler)},
               {"straggler", straggler ? straggler_json(*straggler) : Json(nullptr)}};
  json["ranks"] = Json::array();
  for (const auto& rank : findings.ranks) json["ranks"].push_back(rank_json(rank));
  return json;
}

}  // namespace lotus::analyzer
