#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "care/recover/account.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes(const Json& value) { return human_bytes(value.get<double>()); }
std::string count(const Json& value) { return human_count(value.get<std::uint64_t>()); }

std::string plural(const Json& value, const char* one, const char* many) {
  return fmt::format("{} {}", count(value), value == 1 ? one : many);
}

std::string who(const Json& entry) {
  if (entry["process"] == 0) return "the collector";
  if (entry["pid"] == 0)
    return fmt::format("process number {} (its pid is gone, too)", entry["process"].dump());
  return fmt::format("process {}", entry["pid"].dump());
}

std::string when(const Json& span) {
  const Json& from = span["from_s"];
  const Json& to = span["to_s"];
  if (!from.is_null() && !to.is_null())
    return fmt::format(", {:.3f} s to {:.3f} s after the beginning", from.get<double>(), to.get<double>());
  if (!from.is_null()) return fmt::format(", after {:.3f} s", from.get<double>());
  if (!to.is_null()) return fmt::format(", before {:.3f} s", to.get<double>());
  return "";
}

std::string span_text(const Json& span) {
  std::string what = span["counted"] == true ? plural(span["events"], "event", "events")
                     : span["events"] == 0   ? "events, nobody knows how many"
                                             : "at least " + plural(span["events"], "event", "events");
  if (span["chunks"] != 0) what += fmt::format(" in {}", plural(span["chunks"], "chunk", "chunks"));
  return fmt::format("  gone: {}, thread {}: {}{}\n", who(span), span["stream"].dump(), what, when(span));
}

std::string process_text(const Json& process) {
  std::string text = fmt::format("  gone: {}: ", who(process));
  if (process["beginning"] == false) text += "when it began";
  if (process["beginning"] == false && process["end"] == false) text += ", ";
  if (process["end"] == false) text += "its end, and what it had counted as lost";
  return text + "\n";
}

std::string gone_text(const Json& gone) {
  std::string text;
  for (const Json& range : gone["first_ranges"])
    text +=
        fmt::format("  gone: bytes {} to {} ({}): {}\n", count(range["offset"]),
                    human_count(range["offset"].get<std::uint64_t>() + range["bytes"].get<std::uint64_t>()),
                    bytes(range["bytes"]), escaped(range["what"].get<std::string>()));
  const std::uint64_t more = gone["ranges"].get<std::uint64_t>() - gone["first_ranges"].size();
  if (more > 0) text += fmt::format("  gone: {} more ranges of bytes\n", human_count(more));
  for (const Json& span : gone["spans"]) text += span_text(span);
  for (const Json& entry : gone["definitions"])
    text += fmt::format("  gone: {}: names, {} of them\n", who(entry),
                        plural(entry["frames"], "frame", "frames"));
  for (const Json& entry : gone["samples"])
    text += fmt::format("  gone: {}: {}\n", who(entry),
                        plural(entry["samples"], "stack sample", "stack samples"));
  for (const Json& process : gone["processes"]) text += process_text(process);
  if (gone["end_unknown"] == true) text += "  gone: whatever stood behind the end of the file\n";
  return text;
}

}  // namespace

std::string account_text(const Json& account) {
  const Json& recovered = account["recovered"];
  std::string text =
      fmt::format("{}: {} from {}, {}\n", escaped(recovered["file"].get<std::string>()),
                  plural(recovered["events"], "event", "events"),
                  plural(recovered["processes"], "process", "processes"), bytes(recovered["bytes"]));
  std::string anew;
  for (const Json& part : recovered["made_anew"])
    anew += (anew.empty() ? "" : ", ") + part.get<std::string>();
  if (!anew.empty()) text += fmt::format("  made anew: {}\n", anew);
  const std::string gone = gone_text(account["gone"]);
  return text + (gone.empty() ? "  nothing is gone\n" : gone);
}

}  // namespace lotus::analyzer
