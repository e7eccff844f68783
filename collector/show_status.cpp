#include "show_status.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <set>

#include "clock.hpp"
#include "directory.hpp"
#include "serve_lock.hpp"
#include "status.hpp"
#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr std::uint64_t kSilent = 5 * kSecond;  // a collector that serves a program writes each second

// A directory that segments may lie in.
struct Place {
  std::string path;
  std::string problem;  // why it cannot be looked at; empty: it can
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
  std::string text =
      fmt::format("  {}: {} of {} running, {} events, {} events/s, {}, {} lost, {} salvaged\n",
                  printable(s.path), s.processes.size(), counted(s.process_count, "process", "processes"),
                  s.events, s.events_a_second, human_bytes(s.bytes), s.lost, s.salvaged);
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

bool is_utf8_start(unsigned char byte) { return byte >= 0xc2 && byte <= 0xf4; }

// Length of the UTF-8 sequence at `at`, 0 if there is none. Coarse: enough for what printers accept.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return 1;
  if (!is_utf8_start(first)) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() - at < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return 0;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  return overlong || surrogate || (first == 0xf4 && second >= 0x90) ? 0 : length;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = utf8_length(text, at);
    if (length == 0 || byte < 0x20) {
      out += length == 0 ? "\\ufffd" : fmt::format("\\u{:04x}", byte);
      ++at;
      continue;
    }
    if (byte == '"' || byte == '\\') out += '\\';
    out += text.substr(at, length);
    at += length;
  }
  return out + '"';
}

template <class List, class Write>
std::string list_json(const List& list, Write write) {
  std::string out = "[";
  for (const auto& entry : list) out += (out.size() > 1 ? "," : "") + write(entry);
  return out + "]";
}

std::string process_json(const ProcessStatus& p) {
  return fmt::format(R"({{"pid":{},"lost_events":{},"fill_percent":{},"ended":{}}})", p.pid, p.lost,
                     p.fill_percent, p.dead);
}

std::string session_json(const SessionStatus& s) {
  return fmt::format(
      R"({{"pid":{},"file":{},"events":{},"events_per_s":{},"bytes":{},"lost_events":{},"salvaged_events":{},)"
      R"("damaged_records":{},"processes_ever":{},"stuck_s":{},"processes":{}}})",
      s.pid, quoted(s.path), s.events, s.events_a_second, s.bytes, s.lost, s.salvaged, s.damaged,
      s.process_count, s.stuck_s, list_json(s.processes, process_json));
}

std::string closed_json(const ClosedStatus& c) {
  return fmt::format(R"({{"file":{},"events":{},"lost_events":{}}})", quoted(c.path), c.events, c.lost);
}

std::string place_json(const Place& place) {
  std::string out = fmt::format(
      R"({{"path":{},"exists":{},"problem":{},"served":{},"pid":{},"segments":{})", quoted(place.path),
      place.there, place.problem.empty() ? "null" : quoted(place.problem), place.served,
      place.served_by == 0 ? "null" : std::to_string(place.served_by), place.segments);
  if (place.status)
    out += fmt::format(R"(,"silent_s":{},"sessions":{},"traces_closed":{},"last_closed":{})",
                       silent_seconds(*place.status), list_json(place.status->sessions, session_json),
                       place.status->ended, list_json(place.status->closed, closed_json));
  return out + "}";
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
    text = fmt::format("{{\"schema\":1,\"directories\":{}}}\n", list_json(places, place_json));
  } else {
    for (const Place& place : places) text += place_text(place, told);
    if (text.empty()) text = "nobody serves, and nothing waits: no directory for segments is there\n";
  }
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) return kFailed;
  return served ? kDone : kNobodyServes;
}

}  // namespace lotus::collector
