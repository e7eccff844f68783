#include "showing/timeline/perfetto_profile.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
namespace lotus::analyzer {
namespace {

constexpr std::uint64_t kBelowOurs = 100;  // rank among the tracks of a process
constexpr std::uint64_t kOtherProcesses =
    200'000;  // order of processes that the trace does not know, as devices
constexpr std::uint64_t kOtherPids = 30'000'000;  // their numbers: a device is called 0, 1 …, or by a name

bool is_device(const std::string& category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset";
}

}  // namespace

std::uint64_t PerfettoProfile::process_of(const std::string& pid) {
  std::uint64_t& track = processes_[pid];
  if (track != 0) return track;
  if (const auto number = number_of(pid)) track = own_process_(*number);
  if (track != 0) return track;
  std::string name = profile_.name_of(pid, {});
  if (name.empty()) name = "PyTorch profiler: " + text_of(pid);
  const std::uint64_t order = kOtherProcesses + processes_.size();
  return track = file_.process(kOtherPids + processes_.size(), name, order);
}

std::uint64_t PerfettoProfile::track_of(const ProfileEvent& event) {
  std::uint64_t& track = tracks_[{event.pid, event.tid}];
  if (track == 0)
    track = file_.track(process_of(event.pid), profile_.lane_name(event), kBelowOurs + tracks_.size());
  return track;
}

void PerfettoProfile::describe(const ProfileEvent& event, PerfettoSlice& slice) {
  facts_.bytes.clear();
  slice.facts = &facts_;
  if (event.args.empty()) return;
  const auto args = nlohmann::json::parse(event.args, nullptr, false);
  if (!args.is_object()) return;
  for (const auto& [name, value] : args.items()) {
    if (value.is_string())
      file_.fact(facts_, name, value.get_ref<const std::string&>());
    else if (value.is_number_integer())
      file_.fact(facts_, name, value.get<std::int64_t>());
    else if (value.is_number_float())
      file_.fact_real(facts_, name, value.get<double>());
    else if (value.is_boolean())
      file_.fact_flag(facts_, name, value.get<bool>());
    else
      file_.fact_json(facts_, name, value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  const auto correlation = args.find("correlation");
  if (correlation == args.end() || !correlation->is_number_unsigned()) return;
  const auto arrow = correlation->get<std::uint64_t>();
  (is_device(event.category) ? slice.arrow_to : slice.arrow_from) = arrow;
}

void PerfettoProfile::draw(const ProfileEvent& event) {
  const bool instant = event.phase == "i" || event.phase == "I";
  if ((event.phase != "X" && !instant) || !event.start) return;
  PerfettoSlice slice;
  slice.track = track_of(event);
  slice.start = *event.start;
  slice.category = file_.category(event.category.empty() ? "profiler" : event.category);
  slice.name = file_.name(event.name);
  describe(event, slice);
  packets_.clear();
  if (instant) {
    PerfettoFile::instant(packets_, slice);
  } else {
    PerfettoFile::begin(packets_, slice);
    PerfettoFile::end(packets_, slice.track, slice.start + std::max<std::int64_t>(0, event.ns.value_or(0)));
  }
  file_.write(packets_);
}

}  // namespace lotus::analyzer
