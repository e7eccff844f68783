#include "answers/info/hooks.hpp"

#include <lotus/field.hpp>
#include <nlohmann/json.hpp>

namespace lotus::analyzer {

void HookTotals::add(std::uint32_t process, const Record& record) {
  if (record.kind == Kind::hook) {
    names_[{process, field<Kind::hook, "id">(record)}] = {std::string(field<Kind::hook, "name">(record)),
                                                          std::string(field<Kind::hook, "library">(record))};
  } else if (record.kind == Kind::native) {
    Total& total = totals_[{process, field<Kind::native, "hook">(record)}];
    total.calls += field<Kind::native, "calls">(record);
    total.ticks += field<Kind::native, "ticks">(record);
    total.bytes += field<Kind::native, "bytes">(record);
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
