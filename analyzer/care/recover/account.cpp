#include "care/recover/account.hpp"

#include <nlohmann/json.hpp>

#include "reading/trace/clock_map.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// Seconds since the trace began.
class Seconds {
 public:
  explicit Seconds(const Contents& contents)
      : clock_(contents.header().clock_source, contents.header().tick_shift),
        begin_(contents.header().created) {
    clock_.add(begin_);
    clock_.add(contents.latest());
    clock_.settle();
  }

  Json operator()(std::uint64_t ticks) const {
    if (ticks == UINT64_MAX) return nullptr;
    return static_cast<double>(clock_.ns(ticks) - clock_.ns(begin_.ticks)) / 1e9;
  }

 private:
  ClockMap clock_;
  ClockPair begin_;
};

std::uint32_t pid_of(const Contents& contents, std::uint32_t number) {
  const auto found = contents.processes().find(number);
  return found == contents.processes().end() ? 0 : found->second.pid;
}

Json ranges_json(const Damage& damage) {
  Json list = Json::array();
  for (const DamagedRange& range : damage.ranges)
    list.push_back({{"offset", range.offset}, {"bytes", range.bytes}, {"what", range.what}});
  return list;
}

Json spans_json(const Contents& contents) {
  const Seconds seconds(contents);
  Json list = Json::array();
  for (const Hole& hole : contents.losses().holes())
    list.push_back({{"process", hole.key.process},
                    {"pid", pid_of(contents, hole.key.process)},
                    {"stream", hole.key.stream},
                    {"chunks", hole.chunks},
                    {"events", hole.events},
                    {"counted", hole.counted},
                    {"from_s", seconds(hole.from)},
                    {"to_s", seconds(hole.to)}});
  return list;
}

Json by_process_json(const Contents& contents, const std::map<std::uint32_t, std::uint64_t>& counts,
                     const char* key) {
  Json list = Json::array();
  for (const auto& [number, count] : counts)
    list.push_back({{"process", number}, {"pid", pid_of(contents, number)}, {key, count}});
  return list;
}

// Processes whose first or last frame is missing.
Json processes_json(const Contents& contents) {
  Json list = Json::array();
  for (const auto& [number, facts] : contents.processes())
    if (!facts.has_frame || !facts.has_end)
      list.push_back(
          {{"process", number}, {"pid", facts.pid}, {"beginning", facts.has_frame}, {"end", facts.has_end}});
  return list;
}

Json made_anew_json(const Contents& contents) {
  Json list = Json::array();
  if (contents.header_damaged()) list.push_back("file header");
  if (!contents.has_schema()) list.push_back("schema");
  if (!contents.has_index()) list.push_back("index");
  if (!contents.trailer()) list.push_back("trailer");
  return list;
}

}  // namespace

Json account_json(const Source& source, const std::string& output, const Contents& contents,
                  const Rebuilt& rebuilt) {
  std::uint64_t gone = 0;
  for (const auto& [number, events] : contents.losses().events()) gone += events;
  return {{"schema", 1},
          {"file", source.path()},
          {"bytes", source.size()},
          {"recovered",
           {{"file", output},
            {"bytes", rebuilt.bytes},
            {"events", rebuilt.events},
            {"processes", contents.processes().size()},
            {"made_anew", made_anew_json(contents)}}},
          {"gone",
           {{"events", gone},
            {"bytes", contents.damage().bytes},
            {"ranges", contents.damage().count},
            {"first_ranges", ranges_json(contents.damage())},
            {"spans", spans_json(contents)},
            {"definitions", by_process_json(contents, contents.losses().definitions(), "frames")},
            {"samples", by_process_json(contents, contents.losses().samples(), "samples")},
            {"processes", processes_json(contents)},
            {"end_unknown", !contents.trailer().has_value()}}}};
}

}  // namespace lotus::analyzer
