#include "answers/info/hooks.hpp"

#include <nlohmann/json.hpp>

namespace lotus::analyzer {

void HookTotals::add(std::uint32_t process, const Record& record) {
  const auto& u = record.u;
  if (record.kind == Kind::hook) {
    names_[{process, u[0]}] = {std::string(record.s[1]), std::string(record.s[2])};
  } else if (record.kind == Kind::native) {
    Total& total = totals_[{process, u[0]}];
    total.calls += u[1];
    total.ticks += u[2];
    total.bytes += u[3];
  }
}

nlohmann::ordered_json HookTotals::json(const Trace& trace) const {
  std::map<std::pair<std::string, std::string>, Total> by_name;
  for (const auto& [key, total] : totals_) {
    const auto name = names_.find(key);
    Total& sum =
        by_name[name == names_.end()
                    ? std::pair{"hook " + std::to_string(key.second) + " (its name is lost)", std::string()}
                    : name->second];
    sum.calls += total.calls;
    sum.ticks += total.ticks;
    sum.bytes += total.bytes;
  }
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, total] : by_name)
    list.push_back({{"name", name.first},
                    {"library", name.second},
                    {"calls", total.calls},
                    {"total_s", static_cast<double>(total.ticks) * trace.clock.ns_per_tick() / 1e9},
                    {"bytes", total.bytes}});
  return list;
}

}  // namespace lotus::analyzer
