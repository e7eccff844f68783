#include "show_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "clock.hpp"
#include "directory.hpp"
#include "serve_lock.hpp"
#include "status.hpp"
#include "text.hpp"

namespace lotus::collector {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSilent = 5 * kSecond;  // a collector that serves a program writes each second

// A directory where segments may lie.
struct Place {
  std::string path;
  std::string problem;  // why it cannot be examined; empty: it can
  bool there = false;
  bool served = false;
  std::uint32_t served_by = 0;  // pid; 0: its lock file does not say
  std::size_t segments = 0;
  std::optional<Status> status;
};

Place look_at(const std::string& path) {
  Place place;
  place.path = path;
  Directory directory;
  if (directory.open(path, Directory::Create::no, place.problem) != Directory::Result::opened) return place;
  place.there = true;
  std::vector<std::string> names;
  directory.list_segments(names);
  place.segments = names.size();
  if (!ServeLock::held_by_another(directory)) return place;
  place.served = true;
  place.served_by = ServeLock::holder(directory);
  place.status = from_lines(ServeLock::published(directory));
  return place;
}

std::uint64_t silent_seconds(const Status& status) {
  const std::uint64_t now = monotonic_ns();
  const bool silent = !status.sessions.empty() && now > status.now_ns && now - status.now_ns > kSilent;
  return silent ? (now - status.now_ns) / kSecond : 0;
}

std::string session_text(const SessionStatus& s) {
  // Ended processes stay in the list until all their records are in the trace. In `process_count` they may be
  // missing, since they may have no number yet.
  const auto running =
      std::count_if(s.processes.begin(), s.processes.end(), [](const ProcessStatus& p) { return !p.dead; });
  const std::uint64_t known = std::max<std::uint64_t>(s.process_count, s.processes.size());
  std::string text = fmt::format("  {}: {} of {} running, {} events, {} events/s, {}, {} lost, {} salvaged\n",
                                 printable(s.path), running, counted(known, "process", "processes"), s.events,
                                 s.events_a_second, human_bytes(s.bytes), s.lost, s.salvaged);
  if (s.stuck_s > 0)
    text += fmt::format("    could not be written for {} s; the data wait in shared memory\n", s.stuck_s);
  if (s.damaged > 0)
    text += fmt::format("    {} of shared memory unusable\n", counted(s.damaged, "record", "records"));
  for (const ProcessStatus& p : s.processes)
    text += fmt::format("    pid {}: {} lost, memory {} % full{}\n", p.pid, p.lost, p.fill_percent,
                        p.dead ? ", ended" : "");
  return text;
}

std::string status_text(const Status& status) {
  std::string text;
  if (const auto seconds = silent_seconds(status); seconds > 0)
    text += fmt::format("  has said nothing for {} s: is it stopped?\n", seconds);
  for (const SessionStatus& session : status.sessions) text += session_text(session);
  if (status.sessions.empty()) text += "  no program is traced now\n";
  if (status.ended > 0) text += fmt::format("  {} closed so far\n", counted(status.ended, "trace", "traces"));
  for (const ClosedStatus& c : status.closed)
    text += fmt::format("    {}: {} events, {} lost\n", printable(c.path), c.events, c.lost);
  return text;
}

std::string place_text(const Place& place, std::set<std::uint32_t>& told) {
  if (!place.there) return place.problem.empty() ? "" : place.problem + "\n";
  if (!place.served)
    return fmt::format("{}: nobody serves{}\n", printable(place.path),
                       place.segments > 0
                           ? fmt::format("; {} there (lotus-collector --drain writes what they hold)",
                                         counted(place.segments, "segment is", "segments are"))
                           : "");
  std::string text = fmt::format("{}: served by pid {}, {}\n", printable(place.path), place.served_by,
                                 counted(place.segments, "segment", "segments"));
  if (!place.status) return text + "  no program was traced yet\n";
  return told.insert(place.served_by).second ? text + status_text(*place.status) : text;
}

template <class List, class Make>
Json list_json(const List& list, Make make) {
  Json json = Json::array();
  for (const auto& entry : list) json.push_back(make(entry));
  return json;
}

Json process_json(const ProcessStatus& p) {
  return {{"pid", p.pid}, {"lost_events", p.lost}, {"fill_percent", p.fill_percent}, {"ended", p.dead}};
}

Json session_json(const SessionStatus& s) {
  return {{"pid", s.pid},
          {"file", s.path},
          {"events", s.events},
          {"events_per_s", s.events_a_second},
          {"bytes", s.bytes},
          {"lost_events", s.lost},
          {"salvaged_events", s.salvaged},
          {"damaged_records", s.damaged},
          {"processes_ever", s.process_count},
          {"stuck_s", s.stuck_s},
          {"processes", list_json(s.processes, process_json)}};
}

Json closed_json(const ClosedStatus& c) {
  return {{"file", c.path}, {"events", c.events}, {"lost_events", c.lost}};
}

Json place_json(const Place& place) {
  Json json = {{"path", place.path},
               {"exists", place.there},
               {"problem", place.problem.empty() ? Json(nullptr) : Json(place.problem)},
               {"served", place.served},
               {"pid", place.served_by == 0 ? Json(nullptr) : Json(place.served_by)},
               {"segments", place.segments}};
  if (!place.status) return json;
  json["silent_s"] = silent_seconds(*place.status);
  json["sessions"] = list_json(place.status->sessions, session_json);
  json["traces_closed"] = place.status->ended;
  json["last_closed"] = list_json(place.status->closed, closed_json);
  return json;
}

// On one line; paths may hold any bytes.
std::string json_text(const std::vector<Place>& places) {
  const Json json = {{"schema", 1}, {"directories", list_json(places, place_json)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

ExitCode show_status(const Options& options) {
  std::vector<Place> places;
  bool served = false;
  for (const std::string& path : options.directories) {
    places.push_back(look_at(path));
    served = served || places.back().served;
  }
  std::string text;
  std::set<std::uint32_t> told;
  if (options.json) {
    text = json_text(places);
  } else {
    for (const Place& place : places) text += place_text(place, told);
    if (text.empty()) text = "nobody serves, and nothing waits: no directory for segments is there\n";
  }
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) return kFailed;
  return served ? kDone : kNobodyServes;
}

}  // namespace lotus::collector
