#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "answers/info/description.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLoaders = 64;  // rows; of the others, only the number is printed

std::string text_of(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return escaped(value.get_ref<const std::string&>());
  return value.dump();
}

std::string when(const Json& ns) {
  if (!ns.is_number()) return "-";
  const auto seconds = static_cast<std::time_t>(ns.get<std::int64_t>() / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

std::string count(const Json& value) { return human_count(value.get<std::uint64_t>()); }

std::string section(const Terminal& terminal, const char* title, const std::string& body) {
  return "\n" + terminal.styled(Style::bold, title) + "\n" + body;
}

std::string processes_text(const Json& json, const Terminal& terminal) {
  const auto ending_of = [](const Json& p) {
    if (p["ending"].is_string()) return text_of(p["ending"]);
    return std::string(p["ended"].get<bool>() ? "seen" : "not seen");
  };
  Table table({{"pid"},
               {"worker"},
               {.title = "rank", .importance = 4},
               {.title = "program", .right = false, .flexible = true},
               {.title = "python", .right = false, .importance = 2},
               {.title = "torch", .right = false, .importance = 2},
               {.title = "architecture", .right = false, .importance = 5},
               {.title = "cores", .importance = 4},
               {.title = "threads", .importance = 3},
               {"records"},
               {.title = "lost", .importance = 1},
               {.title = "seconds", .importance = 1},
               {.title = "end", .right = false, .importance = 1}});
  for (const auto& p : json["processes"]) {
    const bool any = p["first_ns"].is_number();
    const double ns =
        any ? static_cast<double>(p["last_ns"].get<std::int64_t>() - p["first_ns"].get<std::int64_t>()) : 0;
    const std::string program = text_of(p["program"]) + " " + text_of(p["arguments"]);
    table.add({text_of(p["pid"]), text_of(p["worker"]), text_of(p["rank"]), program, text_of(p["python"]),
               text_of(p["torch"]), text_of(p["architecture"]), text_of(p["cores"]),
               std::to_string(p["threads"].size()), count(p["records"]),
               p.contains("lost_events") ? count(p["lost_events"]) : "-", fmt::format("{:.3f}", ns / 1e9),
               ending_of(p)});
  }
  return table.text(terminal);
}

std::string loaders_text(const Json& json, const Terminal& terminal) {
  Table table({{.title = "pid", .importance = 2},
               {"loader"},
               {.title = "dataset", .right = false, .flexible = true},
               {"batch size"},
               {"workers"},
               {.title = "prefetch", .importance = 1},
               {.title = "pin memory", .right = false, .importance = 3},
               {.title = "persistent", .right = false, .importance = 4},
               {.title = "in order", .right = false, .importance = 5}});
  const std::size_t all = json["loaders"].size();
  for (std::size_t i = 0; i < std::min(kMostLoaders, all); ++i) {
    const Json& l = json["loaders"][i];
    table.add({text_of(l["pid"]), text_of(l["id"]), text_of(l["dataset"]), text_of(l["batch_size"]),
               text_of(l["workers"]), text_of(l["prefetch"]), text_of(l["pin_memory"]),
               text_of(l["persistent"]), text_of(l["in_order"])});
  }
  const std::string rest =
      all > kMostLoaders ? fmt::format("  and {} more, in info --json\n", all - kMostLoaders) : "";
  return table.text(terminal) + rest;
}

std::string counts_text(const Json& counts, const char* what, const Terminal& terminal) {
  Table table({{.title = what, .right = false}, {"count"}});
  for (const auto& [name, value] : counts.items())
    if (value.get<std::uint64_t>() > 0) table.add({escaped(name), count(value)});
  return table.text(terminal);
}

std::string hooks_text(const Json& hooks, const Terminal& terminal) {
  Table table({{.title = "name", .right = false},
               {.title = "library", .right = false, .flexible = true},
               {"calls"},
               {"total"},
               {.title = "bytes", .importance = 1}});
  for (const auto& hook : hooks) {
    const auto bytes = hook["bytes"].get<double>();
    table.add({text_of(hook["name"]), text_of(hook["library"]), count(hook["calls"]),
               human_time(hook["total_s"].get<double>() * 1e9), bytes > 0 ? human_bytes(bytes) : ""});
  }
  return table.text(terminal);
}

// The note about PyTorch's operators if they were not counted in all batches.
std::string observed_operators(const Json& operators) {
  if (operators.is_null() || operators["batches"] == operators["observed"]) return {};
  return fmt::format(
      "PyTorch's operators were counted in {} of {} batches; LOTUS_TORCH_OPS=top counts them in all.\n",
      count(operators["observed"]), count(operators["batches"]));
}

std::string damage_text(const Json& damage, const Terminal& terminal) {
  Table table({{"offset"}, {"bytes"}, {.title = "what", .right = false, .flexible = true}});
  for (const auto& range : damage["ranges"])
    table.add({text_of(range["offset"]), count(range["bytes"]), text_of(range["what"])});
  const std::uint64_t more = damage["count"].get<std::uint64_t>() - damage["ranges"].size();
  return table.text(terminal) + (more > 0 ? fmt::format("  and {} more\n", more) : "");
}

std::string state_of(const Json& json) {
  if (!json["truncated"].get<bool>())
    return json["interrupted"].get<bool>() ? "complete; its collector was ended while programs ran"
                                           : "complete";
  if (json["cut_off_at"].is_number())
    return fmt::format("truncated: the frame at byte {} is cut off", json["cut_off_at"].get<std::uint64_t>());
  return "truncated: no trailer; still being written, or cut off";
}

std::string facts_text(const Json& json, const Terminal& terminal) {
  Table table({{.right = false}, {.right = false, .flexible = true}});
  const Json& clock = json["clock"];
  table.add({"file", text_of(json["file"])});
  table.add({"size", human_bytes(json["bytes"].get<double>())});
  table.add({"version", text_of(json["version"])});
  table.add({"state", state_of(json)});
  table.add(
      {"session", fmt::format("pid {}, begun {}", text_of(json["session_pid"]), when(json["created_ns"]))});
  table.add({"duration", human_time(json["duration_s"].get<double>() * 1e9)});
  table.add({"events", count(json["events"])});
  table.add({"lost events", count(json["lost_events"])});
  table.add({"gaps", count(json["gaps"])});
  if (json["unrecorded_workers"] != 0)
    table.add({"silent workers",
               count(json["unrecorded_workers"]) +
                   (json["truncated"].get<bool>() ? ", of which nothing is here so far"
                                                  : ", which recorded nothing: no room in shared memory?")});
  table.add({"open spans", count(json["open_spans"])});
  table.add({"damaged", fmt::format("{} bytes in {} places", count(json["damaged"]["bytes"]),
                                    count(json["damaged"]["count"]))});
  table.add(
      {"clock",
       fmt::format("{}, {:.6f} ns a tick{}", text_of(clock["source"]), clock["ns_per_tick"].get<double>(),
                   clock["calibrated"].get<bool>() ? "" : " (guessed: too short to calibrate)")});
  if (const Json& sampling = json["sampling"]; sampling.is_null())
    table.add({"stacks", "not sampled"});
  else
    table.add({"stacks", fmt::format("sampled at {} Hz of each thread's CPU time, by {}",
                                     sampling["hz"].get<std::uint64_t>(),
                                     sampling["clock"] == "perf" ? "perf's clock" : "timers")});
  return table.text(terminal);
}

}  // namespace

std::string description_text(const Json& json, const Terminal& terminal) {
  std::string out = facts_text(json, terminal);
  out += section(terminal, "Processes", processes_text(json, terminal));
  if (!json["loaders"].empty()) out += section(terminal, "Loaders", loaders_text(json, terminal));
  if (!json["hooks"].empty())
    out += section(terminal, "Native entry points  inside the pipeline; times include those below",
                   hooks_text(json["hooks"], terminal) + observed_operators(json["operators"]));
  out += section(terminal, "Records", counts_text(json["records"], "kind", terminal));
  out += section(terminal, "Frames", counts_text(json["frames"], "type", terminal));
  if (json["damaged"]["count"].get<std::uint64_t>() > 0)
    out += section(terminal, "Damage", damage_text(json["damaged"], terminal));
  return out;
}

}  // namespace lotus::analyzer
